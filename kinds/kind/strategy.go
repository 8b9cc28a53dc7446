package kind

import (
	"context"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// The fields that a client owns after a write of a resource, after a write of its status, and
// after a write of its status that restores metadata.
var exceptStatus, exceptSpec, onlyStatus = Except("status"), Except("spec"), Except("metadata", "spec")

// builder erases the type of a definition. Its methods are the functions of a registry.Strategy.
type builder[T Object] struct {
	*Definition[T]
	disabled DisabledFields[T]
	features *feature.Set
	layout   func() layout // computed once, on first use
}

func newBuilder[T Object](d *Definition[T], features *feature.Set) *builder[T] {
	d.Columns = enabledColumns(d.Columns, features)
	return &builder[T]{
		Definition: d,
		disabled:   NewDisabledFields[T](d.GatedFields, features),
		features:   features,
		layout:     sync.OnceValue(func() layout { return layoutOf(reflect.TypeFor[T]().Elem()) }),
	}
}

func (b *builder[T]) strategy() registry.Strategy {
	s := registry.Strategy{
		Create: registry.CreateStrategy{
			ValidateName: b.validateName(),
			MetadataLast: b.MetadataLast,
			GenerateName: b.GenerateName,
			Prepare:      b.prepareCreate,
			Validate:     b.validateCreate(),
			Warnings:     b.warningsOnCreate(),
		},
		Update: registry.UpdateStrategy{
			AllowCreate:        b.AllowCreateOnUpdate,
			AllowUnconditional: b.AllowUnconditionalUpdate,
			Prepare:            b.prepareUpdate,
			Validate:           b.validateUpdate(),
			Warnings:           b.warningsOnUpdate(),
			Owns:               b.Owns,
		},
		Delete:       b.deleteStrategy(),
		Canonicalize: erase(b.Canonicalize),
	}
	if b.features.Enabled(feature.TagValidation) {
		s.ArrangeErrors = arrangeErrors
	}
	if s.Update.Owns == nil && b.Status {
		s.Update.Owns = exceptStatus
	}
	if b.TTL != 0 {
		s.TTL = func(runtime.Object, bool) int64 { return int64(b.TTL.Seconds()) }
	}
	return s
}

func (b *builder[T]) prepareCreate(ctx context.Context, obj runtime.Object) {
	if b.Status && !b.StatusOnCreate {
		b.layout().clearStatus(obj)
	}
	typed := obj.(T)
	if b.Generation && !b.FromZero {
		typed.SetGeneration(1)
	}
	b.disabled.DropNew(typed)
	if b.PrepareForCreate != nil {
		b.PrepareForCreate(ctx, typed)
	}
}

func (b *builder[T]) prepareUpdate(ctx context.Context, obj, old runtime.Object) {
	if b.Status {
		b.layout().copyStatus(obj, old)
	}
	b.disabled.Drop(obj.(T), old.(T))
	if b.PrepareForUpdate != nil {
		b.PrepareForUpdate(ctx, obj.(T), old.(T))
	}
	b.countGeneration(obj, old)
}

// countGeneration runs last: a field that the kind has restored is not a change.
func (b *builder[T]) countGeneration(obj, old runtime.Object) {
	generation := old.(T).GetGeneration()
	if b.Generation && b.changed(obj, old) {
		generation++
	}
	obj.(T).SetGeneration(generation)
}

func (b *builder[T]) changed(obj, old runtime.Object) bool {
	if b.Changed != nil {
		return b.Changed(obj.(T), old.(T))
	}
	return b.layout().specChanged(obj, old)
}

func (b *builder[T]) validateCreate() func(context.Context, runtime.Object) field.ErrorList {
	own := b.ValidateCreate
	if own == nil {
		own = b.Validate
	}
	return func(_ context.Context, obj runtime.Object) field.ErrorList {
		errs := b.validateFinalizers(obj.(T))
		if own != nil {
			errs = append(errs, own(obj.(T))...)
		}
		return errs
	}
}

func (b *builder[T]) validateUpdate() func(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	own := b.ValidateUpdate
	if own == nil && b.Validate != nil {
		own = func(obj, _ T) field.ErrorList { return b.Validate(obj) }
	}
	return func(_ context.Context, obj, old runtime.Object) field.ErrorList {
		var errs field.ErrorList
		if b.GenerateNameOnUpdate {
			errs = ValidateGenerateName(obj.(T), b.validateName())
		}
		errs = append(errs, b.validateFinalizers(obj.(T))...)
		if own != nil {
			errs = append(errs, own(obj.(T), old.(T))...)
		}
		return errs
	}
}

func (b *builder[T]) validateName() validation.ValidateNameFunc {
	if b.ValidateName == nil {
		return validation.NameIsDNSSubdomain
	}
	return b.ValidateName
}

// ValidateGenerateName requires metadata.generateName to be empty or a prefix of valid names.
func ValidateGenerateName(obj metav1.Object, validate validation.ValidateNameFunc) field.ErrorList {
	prefix := obj.GetGenerateName()
	if prefix == "" {
		return nil
	}
	return Invalid(field.NewPath("metadata", "generateName"), prefix, validate(prefix, true))
}

func (b *builder[T]) validateFinalizers(obj T) field.ErrorList {
	if b.UnqualifiedFinalizers {
		return nil
	}
	return ValidateFinalizers(obj)
}

func (b *builder[T]) warningsOnCreate() func(context.Context, runtime.Object) []string {
	own := b.WarningsOnCreate
	if own == nil {
		own = b.Warnings
	}
	if own == nil {
		return nil
	}
	return func(_ context.Context, obj runtime.Object) []string { return own(obj.(T)) }
}

func (b *builder[T]) warningsOnUpdate() func(ctx context.Context, obj, old runtime.Object) []string {
	switch {
	case b.WarningsOnUpdate != nil:
		return func(_ context.Context, obj, old runtime.Object) []string {
			return b.WarningsOnUpdate(obj.(T), old.(T))
		}
	case b.Warnings != nil:
		return func(_ context.Context, obj, _ runtime.Object) []string { return b.Warnings(obj.(T)) }
	}
	return nil
}

func (b *builder[T]) deleteStrategy() registry.DeleteStrategy {
	s := registry.DeleteStrategy{
		ReturnObject:       b.ReturnDeletedObject,
		DefaultPropagation: b.DefaultPropagation,
		Warnings:           b.WarningsOnDelete,
		NoDependents:       b.NoDependents,
	}
	if b.GracePeriod != nil {
		s.GracePeriod = func(obj runtime.Object, opts *metav1.DeleteOptions) *int64 { return b.GracePeriod(obj.(T), opts) }
	}
	if b.HoldsDeletion != nil {
		s.Holds = func(obj runtime.Object) bool { return b.HoldsDeletion(obj.(T)) }
	}
	if b.MarkDeleted != nil {
		s.Mark = func(obj runtime.Object, opts *metav1.DeleteOptions) { b.MarkDeleted(obj.(T), opts) }
	}
	if b.ForbidDelete != nil {
		s.Forbidden = func(obj runtime.Object) error { return b.ForbidDelete(obj.(T)) }
	}
	if b.Empty != nil {
		s.Empty = func() runtime.Object { return b.Empty() }
	}
	return s
}

func (b *builder[T]) statusStrategy() registry.UpdateStrategy {
	s := registry.UpdateStrategy{
		AllowUnconditional: b.AllowUnconditionalUpdate,
		Prepare:            b.prepareStatus,
		Owns:               b.StatusOwns,
	}
	if b.ValidateStatusUpdate != nil {
		s.Validate = func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			errs := b.validateFinalizers(obj.(T))
			return append(errs, b.ValidateStatusUpdate(obj.(T), old.(T))...)
		}
	}
	if b.WarningsOnStatusUpdate != nil {
		s.Warnings = func(_ context.Context, obj, _ runtime.Object) []string {
			return b.WarningsOnStatusUpdate(obj.(T))
		}
	}
	switch {
	case s.Owns != nil:
	case b.StatusKeepsMetadata:
		s.Owns = onlyStatus
	default:
		s.Owns = exceptSpec
	}
	return s
}

func (b *builder[T]) prepareStatus(ctx context.Context, obj, old runtime.Object) {
	b.layout().keepAllButStatus(obj, old)
	typed, before := obj.(T), old.(T)
	typed.SetGeneration(before.GetGeneration())
	if b.StatusKeepsMetadata {
		metav1.ResetObjectMetaForStatus(typed, before)
	}
	b.disabled.Drop(typed, before)
	if b.PrepareForStatusUpdate != nil {
		b.PrepareForStatusUpdate(ctx, typed, before)
	}
}

// erase returns f for any object, which must be a T. Nil stays nil.
func erase[T Object](f func(obj T)) func(runtime.Object) {
	if f == nil {
		return nil
	}
	return func(obj runtime.Object) { f(obj.(T)) }
}
