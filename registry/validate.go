package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateCreate returns the errors of the metadata, the kind and the hook for a new object. With
// MetadataLast, and for a generated name, the metadata is validated after the object, and the name
// as a path segment.
func (s *Store) validateCreate(ctx context.Context, obj runtime.Object, accessor metav1.Object) field.ErrorList {
	strategy := &s.resource.Strategy.Create
	var errs field.ErrorList
	if !strategy.MetadataLast {
		errs = s.validateMetadata(accessor, strategy.ValidateName)
	}
	if strategy.Validate != nil {
		errs = append(errs, strategy.Validate(ctx, obj)...)
	}
	errs = s.resource.Strategy.arrange(errs)
	if len(errs) == 0 && (strategy.MetadataLast || accessor.GetGenerateName() != "") {
		errs = s.validateMetadata(accessor, nil)
	}
	if s.hooks.Validate != nil {
		errs = s.hooks.Validate(ctx, Validation{Catalog: s.catalog, Verb: "create", Obj: obj}, errs)
	}
	return errs
}

// validateMetadata accepts any path segment as a name if validateName is nil.
func (s *Store) validateMetadata(accessor metav1.Object, validateName validation.ValidateNameFunc) field.ErrorList {
	if validateName == nil {
		validateName = path.ValidatePathSegmentName
	}
	return validation.ValidateObjectMetaAccessor(accessor, s.resource.Namespaced, validateName, field.NewPath("metadata"))
}

// validate returns the errors of the next state, alone and compared with the stored object. The
// name is not validated again: it was valid when the object was created.
func (op *updateOp) validate(ctx context.Context, next *pendingUpdate) field.ErrorList {
	metadataPath := field.NewPath("metadata")
	errs := validation.ValidateObjectMetaAccessor(next.meta, op.store.resource.Namespaced, path.ValidatePathSegmentName, metadataPath)
	errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(next.meta, next.oldMeta, metadataPath)...)
	if op.strategy.Validate != nil {
		errs = append(errs, op.strategy.Validate(ctx, next.obj, next.old)...)
	}
	errs = op.store.resource.Strategy.arrange(errs)
	if op.store.hooks.Validate != nil {
		errs = op.store.hooks.Validate(ctx, Validation{
			Catalog: op.store.catalog, Subresource: op.req.Subresource, Verb: op.verb(), Obj: next.obj, Old: next.old,
		}, errs)
	}
	return errs
}

// verb returns the verb that the request was authorized for.
func (op *updateOp) verb() string {
	if _, ok := op.req.Options.Sent.(*metav1.PatchOptions); ok {
		return "patch"
	}
	return "update"
}
