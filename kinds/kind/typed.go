package kind

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The functions below turn functions of a kind's own type, most of which do
// not look at the request, into those that a registry.Strategy takes.

// OnCreate adapts a Prepare or a Canonicalize function.
func OnCreate[T runtime.Object](prepare func(obj T)) func(context.Context, runtime.Object) {
	return func(_ context.Context, obj runtime.Object) { prepare(obj.(T)) }
}

// OnUpdate adapts a Prepare function.
func OnUpdate[T runtime.Object](prepare func(obj, old T)) func(ctx context.Context, obj, old runtime.Object) {
	return func(_ context.Context, obj, old runtime.Object) { prepare(obj.(T), old.(T)) }
}

// CheckCreate adapts a Validate function.
func CheckCreate[T runtime.Object](validate func(obj T) field.ErrorList) func(context.Context, runtime.Object) field.ErrorList {
	return func(_ context.Context, obj runtime.Object) field.ErrorList { return validate(obj.(T)) }
}

// CheckUpdate adapts a Validate function.
func CheckUpdate[T runtime.Object](validate func(obj, old T) field.ErrorList) func(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return func(_ context.Context, obj, old runtime.Object) field.ErrorList {
		return validate(obj.(T), old.(T))
	}
}

// CheckAgain adapts a function that looks at an object by itself for updates.
func CheckAgain[T runtime.Object](validate func(obj T) field.ErrorList) func(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return func(_ context.Context, obj, _ runtime.Object) field.ErrorList { return validate(obj.(T)) }
}

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

// object is what a kind's type is.
type object interface {
	runtime.Object
	metav1.Object
}

// WarnGeneration is WarnAgain for what is not said again of the same generation.
func WarnGeneration[T object](warn func(obj T) []string) func(ctx context.Context, obj, old runtime.Object) []string {
	return WarnUpdate(func(obj, old T) []string {
		if obj.GetGeneration() == old.GetGeneration() {
			return nil
		}
		return warn(obj)
	})
}

// Fields adapts a function that returns what an object can be selected by.
func Fields[T runtime.Object](selectable func(obj T) fields.Set) func(runtime.Object) fields.Set {
	return func(obj runtime.Object) fields.Set { return selectable(obj.(T)) }
}
