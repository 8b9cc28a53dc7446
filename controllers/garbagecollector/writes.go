package garbagecollector

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
)

func deleteObject(ctx context.Context, location registry.Location, policy metav1.DeletionPropagation, preconditions metav1.Preconditions) error {
	_, err := location.Store.Delete(ctx, registry.DeleteRequest{
		Namespace: location.Namespace, Name: location.Name,
		Options: &metav1.DeleteOptions{PropagationPolicy: &policy, Preconditions: &preconditions},
	})
	return err
}

// update applies an edit to the latest state of an object, unless the object is gone. An edit
// without effect writes nothing.
func update(ctx context.Context, location registry.Location, uid types.UID, edit func(metav1.Object)) error {
	_, err := location.Store.Update(ctx, registry.UpdateRequest{
		Namespace: location.Namespace, Name: location.Name, UID: uid,
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			next := current.DeepCopyObject()
			accessor, err := meta.Accessor(next)
			if err != nil {
				return nil, err
			}
			edit(accessor)
			return next, nil
		},
		Options: registry.WriteOptions{FieldManager: reconcile.FieldManager, Sent: &metav1.PatchOptions{}},
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // another object has the name
		return nil
	}
	return err
}

func removeFinalizer(ctx context.Context, obj *item, finalizer string) error {
	return update(ctx, obj.Location, obj.UID, func(obj metav1.Object) {
		obj.SetFinalizers(slices.DeleteFunc(obj.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
}

func removeReferences(obj metav1.Object, owners []types.UID) {
	obj.SetOwnerReferences(slices.DeleteFunc(obj.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
		return slices.Contains(owners, ref.UID)
	}))
}

// unblockOwners makes the references of an object not block the deletion of its owners.
func unblockOwners(obj metav1.Object) {
	refs := obj.GetOwnerReferences()
	for i := range refs {
		if isBlocking(refs[i]) {
			refs[i].BlockOwnerDeletion = new(false)
		}
	}
	obj.SetOwnerReferences(refs)
}
