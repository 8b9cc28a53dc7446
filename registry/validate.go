package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateCreate looks at a new object: its metadata, then the rest.
func (s *Store) validateCreate(ctx context.Context, obj runtime.Object, accessor metav1.Object) field.ErrorList {
	strategy := &s.resource.Strategy.Create
	validateName := strategy.ValidateName
	if validateName == nil {
		validateName = path.ValidatePathSegmentName
	}
	faults := validation.ValidateObjectMetaAccessor(accessor, s.resource.Namespaced, validateName, field.NewPath("metadata"))
	if strategy.Validate != nil {
		faults = append(faults, strategy.Validate(ctx, obj)...)
	}
	return faults
}

// validateUpdate looks at a changed object by itself and beside the stored one.
// Its name is not validated again: it was good enough once.
func (c *transition) validate(ctx context.Context, namespaced bool) field.ErrorList {
	at := field.NewPath("metadata")
	faults := validation.ValidateObjectMetaAccessor(c.meta, namespaced, path.ValidatePathSegmentName, at)
	faults = append(faults, validation.ValidateObjectMetaAccessorUpdate(c.meta, c.oldMeta, at)...)
	if c.strategy.Validate != nil {
		faults = append(faults, c.strategy.Validate(ctx, c.obj, c.old)...)
	}
	return faults
}
