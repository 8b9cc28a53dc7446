package registry

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/storage"
)

// pendingUpdate is an update that replaces the stored object old by obj. Only obj may be modified.
type pendingUpdate struct {
	obj, old      runtime.Object
	meta, oldMeta metav1.Object
}

// prepare returns the update of the stored object after validation and admission.
func (op *updateOp) prepare(ctx context.Context, current *storage.Entry) (*pendingUpdate, error) {
	old, err := current.ObjectContext(ctx)
	if err != nil {
		return nil, err
	}
	obj, err := op.propose(ctx, old)
	if errors.Is(err, storage.ErrPrecondition) {
		op.attempt.conflict = op.newConflict(0, current)
	}
	if err != nil {
		return nil, err
	}
	next := &pendingUpdate{obj: obj, old: old}
	if next.meta, err = meta.Accessor(obj); err != nil {
		return nil, err
	}
	if next.oldMeta, err = meta.Accessor(old); err != nil {
		return nil, err
	}
	if err := op.checkVersion(next, current); err != nil {
		return nil, err
	}
	dropDuplicateOwners(ctx, next.meta, afterAdmission)
	if op.req.Subresource == "" {
		if err := op.store.beginUpdate(ctx, op.attempt.tx, obj, old, op.req.Options); err != nil {
			return nil, err
		}
	}
	if err := op.complete(ctx, next); err != nil {
		return nil, err
	}
	return next, op.validateAdmission(ctx, next)
}

// checkVersion compares the resourceVersion of a proposal with the stored one.
func (op *updateOp) checkVersion(next *pendingUpdate, current *storage.Entry) error {
	versioner := op.store.storage.Versioner()
	proposed, err := versioner.ObjectResourceVersion(next.obj)
	if err != nil {
		return err
	}
	policy := versionRequired
	if op.strategy.AllowUnconditional {
		policy = versionOptional
	}
	switch decideVersion(proposed, current.Revision, policy) {
	case versionAdopt:
		return versioner.UpdateObject(next.obj, current.Revision)
	case versionConflict:
		op.attempt.conflict = op.newConflict(proposed, current)
		return op.call().conflict()
	case versionMissing:
		// As in kube-apiserver, the kind in the error is the name of the resource.
		r := op.store.resource.GroupResource()
		return apierrors.NewInvalid(schema.GroupKind{Group: r.Group, Kind: r.Resource}, op.req.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), proposed, "must be specified for an update"),
		})
	default:
		return nil
	}
}

// complete prepares, validates and canonicalizes the next state by the rules of its kind and the
// rules for metadata.
func (op *updateOp) complete(ctx context.Context, next *pendingUpdate) error {
	if err := op.store.resource.CheckNamespace(next.meta, op.req.Namespace); err != nil {
		return err
	}
	next.meta.SetGeneration(next.oldMeta.GetGeneration())
	if op.strategy.Prepare != nil {
		op.strategy.Prepare(ctx, next.obj, next.old)
	}
	next.keepSystemFields()
	if errs := op.validate(ctx, next); len(errs) > 0 {
		return invalid(op.store.resource.hubKind(), next.meta.GetName(), errs)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if op.strategy.Warnings != nil {
		for _, text := range op.strategy.Warnings(ctx, next.obj, next.old) {
			AddWarning(ctx, text)
		}
	}
	if canonicalize := op.store.resource.Strategy.Canonicalize; canonicalize != nil {
		canonicalize(next.obj)
	}
	if complete := op.store.hooks.Complete; complete != nil && op.req.Subresource == "" {
		complete(ctx, op.store.catalog, next.obj, next.old)
	}
	return nil
}

// keepSystemFields restores the fields that no update changes. Validation rejects changes of the
// other immutable fields.
func (u *pendingUpdate) keepSystemFields() {
	if u.meta.GetUID() == "" {
		u.meta.SetUID(u.oldMeta.GetUID())
	}
	if created := u.oldMeta.GetCreationTimestamp(); !created.IsZero() {
		u.meta.SetCreationTimestamp(created)
	}
	if deleted := u.oldMeta.GetDeletionTimestamp(); !deleted.IsZero() {
		u.meta.SetDeletionTimestamp(deleted)
	}
	if grace := u.oldMeta.GetDeletionGracePeriodSeconds(); grace != nil && u.meta.GetDeletionGracePeriodSeconds() == nil {
		u.meta.SetDeletionGracePeriodSeconds(grace)
	}
}

// removesLastFinalizer reports whether nothing keeps the object any longer: it is being deleted,
// its grace period is zero or absent, and the next state has no finalizers.
func (u *pendingUpdate) removesLastFinalizer(holds func(runtime.Object) bool) bool {
	if len(u.meta.GetFinalizers()) > 0 || u.oldMeta.GetDeletionTimestamp() == nil {
		return false
	}
	if grace := u.oldMeta.GetDeletionGracePeriodSeconds(); grace != nil && *grace != 0 {
		return false
	}
	return holds == nil || !holds(u.obj)
}

// validateAdmission runs validating admission, on views if the request is for a view.
func (op *updateOp) validateAdmission(ctx context.Context, next *pendingUpdate) error {
	obj, old := next.obj, next.old
	if op.view != nil {
		var err error
		if obj, err = op.view.FromObject(obj); err != nil {
			return err
		}
		if old, err = op.view.FromObject(old); err != nil {
			return err
		}
	}
	return op.store.validateAdmission(ctx, op.attempt.tx, op.attributes(obj, old))
}

// attributes returns the admission attributes of the update.
func (op *updateOp) attributes(obj, old runtime.Object) *Attributes {
	attributes := &Attributes{
		Operation:   OperationUpdate,
		Subresource: op.req.Subresource,
		Namespace:   op.req.Namespace,
		Name:        op.req.Name,
		Object:      obj,
		OldObject:   old,
		Options:     op.req.Options,
	}
	if old == nil {
		attributes.Operation = OperationCreate
		attributes.Options.Sent = optionsOfCreate(attributes.Options.Sent)
	} else {
		attributes.Options.Sent = optionsOfUpdate(attributes.Options.Sent)
	}
	return attributes
}
