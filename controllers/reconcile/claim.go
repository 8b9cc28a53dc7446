package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Owner is an object as the controller of other objects.
type Owner struct {
	metav1.Object
	Kind schema.GroupVersionKind
	// alive returns an error if the object is gone, replaced, or being deleted.
	alive func(ctx context.Context) error
}

// Owner returns an object of a kind as the controller of other objects.
func (o Objects[T]) Owner(obj T, kind schema.GroupVersionKind) Owner {
	return Owner{Object: obj, Kind: kind, alive: func(ctx context.Context) error {
		latest, err := o.Get(ctx, obj.GetNamespace(), obj.GetName())
		if err == nil && (latest.GetUID() != obj.GetUID() || latest.GetDeletionTimestamp() != nil) {
			err = apierrors.NewConflict(o.Resource, obj.GetName(), errors.New("the owner is being deleted"))
		}
		return err
	}}
}

// ControllerReference returns the reference of a dependent to its controller.
func (o Owner) ControllerReference() metav1.OwnerReference {
	return *metav1.NewControllerRef(o, o.Kind)
}

// ObjectReference returns the reference of an Event to its object.
func (o Owner) ObjectReference() corev1.ObjectReference {
	apiVersion, kind := o.Kind.ToAPIVersionAndKind()
	return corev1.ObjectReference{
		APIVersion: apiVersion, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(),
		ResourceVersion: o.GetResourceVersion(),
	}
}

// Claim returns the candidates that match and are controlled by the owner. It adopts matching
// candidates without a controller, and releases candidates of the owner that do not match, unless
// the owner is being deleted. If a candidate fails, the result has the other candidates.
func (o Objects[T]) Claim(ctx context.Context, owner Owner, candidates []T, match func(T) bool) ([]T, error) {
	var claimed []T
	var errs []error
	for _, obj := range candidates {
		controller, matches := metav1.GetControllerOfNoCopy(obj), match(obj)
		switch {
		case controller != nil && controller.UID == owner.GetUID() && matches:
			claimed = append(claimed, obj)
		case owner.GetDeletionTimestamp() != nil:
		case controller != nil && controller.UID == owner.GetUID():
			errs = append(errs, o.release(ctx, owner, obj))
		case controller == nil && matches && obj.GetDeletionTimestamp() == nil:
			adopted, err := o.adopt(ctx, owner, obj, match)
			if err == nil && metav1.IsControlledBy(adopted, owner) {
				claimed = append(claimed, adopted)
			}
			errs = append(errs, err)
		}
	}
	return claimed, errors.Join(errs...)
}

// adopt makes the owner the controller of an orphan, unless the orphan has changed meanwhile. The
// owner must be alive after the orphan was read: the deletion of an owner may have orphaned it.
func (o Objects[T]) adopt(ctx context.Context, owner Owner, orphan T, match func(T) bool) (T, error) {
	if err := owner.alive(ctx); err != nil {
		return orphan, fmt.Errorf("adopt %s: %w", orphan.GetName(), err)
	}
	adopted, err := o.Update(ctx, orphan, func(latest T) {
		if metav1.GetControllerOfNoCopy(latest) == nil && latest.GetDeletionTimestamp() == nil && match(latest) {
			latest.SetOwnerReferences(append(latest.GetOwnerReferences(), owner.ControllerReference()))
		}
	})
	if apierrors.IsNotFound(err) {
		return orphan, nil
	}
	return adopted, err
}

// release removes the reference to the owner.
func (o Objects[T]) release(ctx context.Context, owner Owner, obj T) error {
	_, err := o.Update(ctx, obj, func(latest T) {
		latest.SetOwnerReferences(slices.DeleteFunc(latest.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
			return ref.UID == owner.GetUID()
		}))
	})
	return IgnoreGone(err)
}
