package kind

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
)

// WarnCreate adapts a Warnings function.
func WarnCreate[T runtime.Object](warn func(obj T) []string) func(context.Context, runtime.Object) []string {
	return func(_ context.Context, obj runtime.Object) []string { return warn(obj.(T)) }
}

// WarnUpdate adapts a Warnings function.
func WarnUpdate[T runtime.Object](warn func(obj, old T) []string) func(ctx context.Context, obj, old runtime.Object) []string {
	return func(_ context.Context, obj, old runtime.Object) []string { return warn(obj.(T), old.(T)) }
}

// WarnAgain adapts a function that looks at an object by itself for updates.
func WarnAgain[T runtime.Object](warn func(obj T) []string) func(ctx context.Context, obj, old runtime.Object) []string {
	return func(_ context.Context, obj, _ runtime.Object) []string { return warn(obj.(T)) }
}
