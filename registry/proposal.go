package registry

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/storage"
)

// propose returns the proposed object. The proposal of a view is written into a copy of old.
func (op *updateOp) propose(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	if op.view == nil {
		return op.proposal(ctx, old)
	}
	view, err := op.view.base(old)
	if err != nil {
		return nil, err
	}
	managers, err := op.newViewManagers(view, old)
	if err != nil {
		return nil, err
	}
	proposed, err := op.proposal(ctx, view)
	if err != nil {
		return nil, err
	}
	if err := op.checkView(proposed, view); err != nil {
		return nil, err
	}
	obj := old.DeepCopyObject()
	if err := op.view.ToObject(proposed, obj); err != nil {
		return nil, err
	}
	if err := managers.writeTo(obj, proposed); err != nil {
		return nil, err
	}
	restoreTimes(obj, old)
	return obj, adoptViewVersion(obj, proposed)
}

// base returns the view that a proposal starts from.
func (v *View) base(obj runtime.Object) (runtime.Object, error) {
	if v.Base != nil {
		return v.Base(obj)
	}
	return v.FromObject(obj)
}

// checkView validates the proposed view and its UID.
func (op *updateOp) checkView(proposed, view runtime.Object) error {
	if op.view.Validate != nil {
		if err := op.view.Validate(proposed); err != nil {
			return err
		}
	}
	uid, err := meta.NewAccessor().UID(proposed)
	if err != nil {
		return err
	}
	stored, err := meta.NewAccessor().UID(view)
	if err != nil || uid == "" || uid == stored {
		return err
	}
	resource := op.call().resource
	resource.Resource += "/" + op.req.Subresource
	return apierrors.NewConflict(resource, op.req.Name, fmt.Errorf("Precondition failed: "+uidMismatchText, uid, stored))
}

// adoptViewVersion sets the resourceVersion of a view on its object. A view without one applies
// to the stored object, even if the kind of the object requires a resourceVersion, as in
// kube-apiserver.
func adoptViewVersion(obj, view runtime.Object) error {
	accessor, err := meta.Accessor(view)
	if err != nil || accessor.GetResourceVersion() == "" {
		return err
	}
	return copyVersion(obj, view)
}

// copyVersion copies the resourceVersion of from to to.
func copyVersion(to, from runtime.Object) error {
	target, err := meta.Accessor(to)
	if err != nil {
		return err
	}
	source, err := meta.Accessor(from)
	if err != nil {
		return err
	}
	target.SetResourceVersion(source.GetResourceVersion())
	return nil
}

// proposal returns the client's proposal after the checks and mutating admission. The caller may
// modify the result.
func (op *updateOp) proposal(ctx context.Context, current runtime.Object) (runtime.Object, error) {
	proposed, err := op.req.Propose(ctx, current)
	if err != nil {
		return nil, err
	}
	if !op.req.Owned && !op.req.Applied {
		proposed = proposed.DeepCopyObject()
	}
	accessor, err := meta.Accessor(proposed)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if current == nil && op.req.ForceCreate && accessor.GetUID() != "" {
		return nil, op.unknownUID(accessor.GetUID())
	}
	if err := op.store.resource.CheckNamespace(accessor, op.req.Namespace); err != nil {
		return nil, err
	}
	if err := CheckName(accessor, op.req.Name); err != nil {
		return nil, err
	}
	if err := op.checkUID(current); err != nil {
		return nil, err
	}
	if op.verb() == "update" {
		dropDuplicateOwners(ctx, accessor, "")
	}
	if err := op.store.checkSize(proposed); err != nil {
		return nil, err
	}
	switch {
	case op.untracked:
		accessor.SetManagedFields(nil)
	case !op.req.Applied:
		op.store.track(proposed, current, op.writer(), op.req.Subresource)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	obj, err := op.store.admit(ctx, op.attributes(proposed, current))
	if err != nil {
		return nil, err
	}
	restoreTimes(obj, current)
	return obj, nil
}

// unknownUID returns the 409 for a UID on an object that would be created.
func (op *updateOp) unknownUID(uid types.UID) error {
	return apierrors.NewConflict(op.call().resource, op.req.Name,
		fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
}

// uidMismatchText is a text of kube-apiserver.
const uidMismatchText = "UID in precondition: %v, UID in object meta: %v"

// checkUID returns an error if the stored object does not have the UID of the request. The UID of
// the proposal is not checked here, because it may be a patch that tries to change it. checkView
// checks the UID of such a view.
func (op *updateOp) checkUID(current runtime.Object) error {
	var stored types.UID
	if current != nil {
		accessor, err := meta.Accessor(current)
		if err != nil {
			return err
		}
		stored = accessor.GetUID()
	}
	if op.req.UID == "" || op.req.UID == stored {
		return nil
	}
	return fmt.Errorf("%w: "+uidMismatchText, storage.ErrPrecondition, op.req.UID, stored)
}
