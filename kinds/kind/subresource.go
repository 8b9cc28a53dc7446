package kind

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/miniapi/miniapi/registry"
)

// Write is a subresource that reads and writes the resource's own kind by its own rules.
type Write[T Object] struct {
	AllowUnconditional bool
	Prepare            func(ctx context.Context, obj, old T)
	// Validate runs after the validation of finalizers.
	Validate func(obj, old T) field.ErrorList
	Warnings func(obj, old T) []string
	// Owns selects the fields that a client comes to own. Nil: all.
	Owns fieldpath.Filter
}

// Subresource returns the subresource with the type T erased.
func (w Write[T]) Subresource(name string) registry.Subresource {
	s := registry.UpdateStrategy{AllowUnconditional: w.AllowUnconditional, Owns: w.Owns}
	if w.Prepare != nil {
		s.Prepare = func(ctx context.Context, obj, old runtime.Object) { w.Prepare(ctx, obj.(T), old.(T)) }
	}
	s.Validate = func(_ context.Context, obj, old runtime.Object) field.ErrorList {
		errs := ValidateFinalizers(obj.(T))
		if w.Validate != nil {
			errs = append(errs, w.Validate(obj.(T), old.(T))...)
		}
		return errs
	}
	if w.Warnings != nil {
		s.Warnings = func(_ context.Context, obj, old runtime.Object) []string { return w.Warnings(obj.(T), old.(T)) }
	}
	return WriteSubresource(name, s)
}

// WriteSubresource returns a subresource that reads and writes the resource's own kind.
func WriteSubresource(name string, strategy registry.UpdateStrategy) registry.Subresource {
	return registry.Subresource{
		Name:   name,
		Verbs:  []string{"get", "patch", "update"},
		Update: &strategy,
	}
}
