package reconcile

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// Object is a pointer to a Go type of the hub, such as *corev1.Pod.
type Object interface {
	runtime.Object
	metav1.Object
}

// Objects reads and writes the objects of a resource. All reads return the latest state, so a
// controller needs no record of its own writes. Objects that are read must not be modified.
type Objects[T Object] struct {
	Catalog  *registry.Catalog
	Resource schema.GroupResource
	// Manager is the manager of the fields that are written. Empty: FieldManager.
	Manager string
}

func (o Objects[T]) manager() string { return cmp.Or(o.Manager, FieldManager) }

func (o Objects[T]) store() (*registry.Store, error) { return registry.Require(o.Catalog, o.Resource) }

// Get returns an object, or a NotFound error.
func (o Objects[T]) Get(ctx context.Context, namespace, name string) (T, error) {
	store, err := o.store()
	if err != nil {
		var none T
		return none, err
	}
	return registry.Read[T](ctx, store, namespace, name, "")
}

// List returns the selected objects of a namespace. Namespace "" is all namespaces, and a nil
// selector selects all objects.
func (o Objects[T]) List(ctx context.Context, namespace string, selector labels.Selector) ([]T, error) {
	store, err := o.store()
	if err != nil {
		return nil, err
	}
	return registry.ReadAll[T](ctx, store, registry.ListRequest{Namespace: namespace, Label: selector})
}

// Controlled returns the objects of a namespace whose controller is the owner.
func (o Objects[T]) Controlled(ctx context.Context, owner metav1.Object) ([]T, error) {
	all, err := o.List(ctx, owner.GetNamespace(), nil)
	if err != nil {
		return nil, err
	}
	var controlled []T
	for _, obj := range all {
		if metav1.IsControlledBy(obj, owner) {
			controlled = append(controlled, obj)
		}
	}
	return controlled, nil
}

// Create creates an object, with the defaults of its kind, and returns its stored state. It may
// modify obj.
func (o Objects[T]) Create(ctx context.Context, obj T) (T, error) {
	var none T
	store, err := o.store()
	if err != nil {
		return none, err
	}
	if setDefaults := store.Resource().Versions[0].Default; setDefaults != nil {
		setDefaults(obj)
	}
	result, err := store.Create(ctx, registry.CreateRequest{
		Namespace: obj.GetNamespace(), Object: obj,
		Options: registry.WriteOptions{FieldManager: o.manager(), Sent: &metav1.CreateOptions{}},
	})
	if err != nil {
		return none, err
	}
	return registry.As[T](result.Entry)
}

// Update applies an edit to the latest state of an object with the name and the UID of obj, and
// returns the stored state. An edit without effect on obj requests nothing. The edit runs again
// after a lost race. It is a NotFound or Conflict error if the object is gone or replaced.
func (o Objects[T]) Update(ctx context.Context, obj T, edit func(T)) (T, error) {
	return o.update(ctx, obj, "", edit)
}

// UpdateStatus is Update for the status.
func (o Objects[T]) UpdateStatus(ctx context.Context, obj T, edit func(T)) (T, error) {
	return o.update(ctx, obj, "status", edit)
}

func (o Objects[T]) update(ctx context.Context, obj T, subresource string, edit func(T)) (T, error) {
	edited := func(current runtime.Object) T {
		next := current.DeepCopyObject().(T)
		edit(next)
		return next
	}
	if equality.Semantic.DeepEqual(edited(obj), obj) {
		return obj, nil
	}
	return o.propose(ctx, obj, subresource, func(current runtime.Object) runtime.Object { return edited(current) })
}

// ApplyStatus applies the fields of a body to the status of an object, as the server-side apply of
// one manager that owns these fields, and returns the stored state.
func (o Objects[T]) ApplyStatus(ctx context.Context, obj T, body *unstructured.Unstructured) (T, error) {
	var none T
	store, err := o.store()
	if err != nil {
		return none, err
	}
	options := registry.WriteOptions{FieldManager: o.manager(), Sent: &metav1.PatchOptions{}}
	result, err := store.Update(ctx, registry.UpdateRequest{
		Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(), Subresource: "status", Applied: true,
		Propose: func(ctx context.Context, current runtime.Object) (runtime.Object, error) {
			return store.Apply(ctx, current, registry.ApplyRequest{
				Subresource: "status", Object: body.DeepCopy(), Force: true, Options: options,
			})
		},
		Options: options,
	})
	if err != nil {
		return none, err
	}
	return registry.As[T](result.Entry)
}

// PutStatus replaces the status of an object, and returns the stored state. It is a Conflict error
// if the object has changed since obj was read. Without a difference it requests nothing.
func (o Objects[T]) PutStatus(ctx context.Context, obj, desired T) (T, error) {
	if equality.Semantic.DeepEqual(obj, desired) {
		return obj, nil
	}
	return o.propose(ctx, obj, "status", func(runtime.Object) runtime.Object { return desired })
}

// propose replaces an object that has the UID of obj, or a subresource, by a new state.
func (o Objects[T]) propose(ctx context.Context, obj T, subresource string, next func(current runtime.Object) runtime.Object) (T, error) {
	var none T
	store, err := o.store()
	if err != nil {
		return none, err
	}
	result, err := store.Update(ctx, registry.UpdateRequest{
		Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(), Subresource: subresource,
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) { return next(current), nil },
		Options: registry.WriteOptions{FieldManager: o.manager(), Sent: &metav1.UpdateOptions{}},
	})
	if err != nil {
		return none, err
	}
	return registry.As[T](result.Entry)
}

// Delete deletes an object if it still has the UID of obj. Dependents are deleted in the
// background. It is no error if the object is gone.
func (o Objects[T]) Delete(ctx context.Context, obj T) error {
	return o.delete(ctx, obj, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
}

// DeleteNow is Delete without a grace period, for a kubelet.
func (o Objects[T]) DeleteNow(ctx context.Context, obj T) error {
	return o.delete(ctx, obj, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
}

// DeleteUnchanged is Delete if the object has not changed since obj was read. The object stays
// until its dependents are deleted.
func (o Objects[T]) DeleteUnchanged(ctx context.Context, obj T) error {
	return o.delete(ctx, obj, metav1.DeleteOptions{
		PropagationPolicy: new(metav1.DeletePropagationForeground),
		Preconditions:     &metav1.Preconditions{ResourceVersion: new(obj.GetResourceVersion())},
	})
}

// delete deletes an object if it still has the UID of obj.
func (o Objects[T]) delete(ctx context.Context, obj T, options metav1.DeleteOptions) error {
	store, err := o.store()
	if err != nil {
		return err
	}
	preconditions := metav1.Preconditions{UID: new(obj.GetUID())}
	if options.Preconditions != nil {
		preconditions.ResourceVersion = options.Preconditions.ResourceVersion
	}
	options.Preconditions = &preconditions
	_, err = store.Delete(ctx, registry.DeleteRequest{Namespace: obj.GetNamespace(), Name: obj.GetName(), Options: &options})
	return IgnoreGone(err)
}

// IgnoreGone returns nil for the error of a write to an object that is gone or that has been
// replaced by another object of the same name.
func IgnoreGone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// IgnoreTerminating returns nil for the error of a creation in a namespace that is being deleted or
// that is gone.
func IgnoreTerminating(err error) error {
	if apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}
