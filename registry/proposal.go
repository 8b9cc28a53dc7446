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

// propose returns the object that the client wants, by itself or through a view.
func (op *updateOp) propose(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	if op.view == nil {
		return op.proposal(ctx, old)
	}
	shown, err := op.view.FromObject(old)
	if err != nil {
		return nil, err
	}
	managers, err := op.showManagers(shown, old)
	if err != nil {
		return nil, err
	}
	wanted, err := op.proposal(ctx, shown)
	if err != nil {
		return nil, err
	}
	if err := op.checkView(wanted, shown); err != nil {
		return nil, err
	}
	obj := old.DeepCopyObject()
	if err := op.view.ToObject(wanted, obj); err != nil {
		return nil, err
	}
	if err := managers.noteIn(obj, wanted); err != nil {
		return nil, err
	}
	return obj, adoptViewVersion(obj, wanted)
}

// checkView looks at a view that a client sent in the place of another.
func (op *updateOp) checkView(wanted, shown runtime.Object) error {
	if op.view.Validate != nil {
		if err := op.view.Validate(wanted); err != nil {
			return err
		}
	}
	asked, err := meta.NewAccessor().UID(wanted)
	if err != nil {
		return err
	}
	stored, err := meta.NewAccessor().UID(shown)
	if err != nil || asked == "" || asked == stored {
		return err
	}
	resource := op.call().resource
	resource.Resource += "/" + op.req.Subresource
	return apierrors.NewConflict(resource, op.req.Name, fmt.Errorf("Precondition failed: "+otherUIDText, asked, stored))
}

// adoptViewVersion makes the resourceVersion that a view names the one that its
// object is written at. A view that names none applies to the stored object,
// also where the object's own kind requires a version, as in kube-apiserver.
func adoptViewVersion(obj, view runtime.Object) error {
	accessor, err := meta.Accessor(view)
	if err != nil || accessor.GetResourceVersion() == "" {
		return err
	}
	return copyVersion(obj, view)
}

// copyVersion sets the resourceVersion of to to that of from.
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

// proposal asks the client's side for what it wants, and admission what it
// thinks of it. The result belongs to the caller: it is a copy, for a proposal
// may be the same object in every run, or even the current one.
func (op *updateOp) proposal(ctx context.Context, current runtime.Object) (runtime.Object, error) {
	wanted, err := op.req.Propose(ctx, current)
	if err != nil {
		return nil, err
	}
	if !op.req.Applied {
		wanted = wanted.DeepCopyObject()
	}
	accessor, err := meta.Accessor(wanted)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if current == nil && op.req.ForceCreate && accessor.GetUID() != "" {
		return nil, op.uidOfNothing(accessor.GetUID())
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
	if err := op.store.checkSize(wanted, op.writer()); err != nil {
		return nil, err
	}
	if !op.req.Applied {
		op.store.track(wanted, current, op.writer(), op.req.Subresource)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	obj, err := op.store.admit(ctx, op.attributes(wanted, current))
	if err != nil {
		return nil, err
	}
	keepTimes(obj, current)
	return obj, nil
}

// uidOfNothing is the 409 for a UID where an object would be created.
func (op *updateOp) uidOfNothing(uid types.UID) error {
	return apierrors.NewConflict(op.call().resource, op.req.Name,
		fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
}

// otherUIDText is that of kube-apiserver.
const otherUIDText = "UID in precondition: %v, UID in object meta: %v"

// checkUID refuses to write to another object than the one that is meant. What
// a proposal says of its UID is not looked at here, for it may be a patch that
// tries to change it; that of a view is.
func (op *updateOp) checkUID(current runtime.Object) error {
	var stored types.UID
	if current != nil {
		accessor, err := meta.Accessor(current)
		if err != nil {
			return err
		}
		stored = accessor.GetUID()
	}
	if op.req.UID == "" || op.req.UID == stored || op.view != nil {
		return nil
	}
	return fmt.Errorf("%w: "+otherUIDText, storage.ErrPrecondition, op.req.UID, stored)
}
