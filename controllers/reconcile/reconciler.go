package reconcile

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// defaultWorkers is the number of objects that a reconciler reconciles at the same time.
const defaultWorkers = 5

// Spec describes a controller that reconciles the objects of one resource.
type Spec[T Object] struct {
	// Name is the name of the controller in kube-controller-manager.
	Name string
	// Account is the service account of the controller in kube-system.
	Account string
	Objects Objects[T]
	// Kind is the kind of the objects. With Dependents, objects of these resources cause the
	// reconciliation of the object that is their controller. A dependent that loses its controller,
	// or that has none and gets other labels, causes the reconciliation of all objects of its
	// namespace, which may adopt it.
	Kind       schema.GroupKind
	Dependents []schema.GroupResource
	// Related lists resources whose objects cause the reconciliation of all objects of their
	// namespace, such as the pods of a Service. Objects of cluster scope relate to all namespaces.
	Related []schema.GroupResource
	// Affects returns the namespace and the name of the object that a change of another object
	// affects, and false if it affects none. Nil: none. It must not block.
	Affects func(change Change) (namespace, name string, ok bool)
	// Workers is the maximum number of objects that are reconciled at the same time. 0 is 5.
	Workers int
	// Reconcile brings an object to the desired state. It must not modify obj, which is the latest
	// state. It is called after every change, never twice at the same time for one object, again
	// after an error, and again after a delay that is not 0. A Conflict or NotFound error means
	// that an object has changed meanwhile; it is retried and logged at debug level.
	Reconcile func(ctx context.Context, obj T) (again time.Duration, err error)
	// Required lists the names of objects of cluster scope that are also reconciled at the start,
	// even if they do not exist.
	Required []string
	// Gone is called instead of Reconcile if the object does not exist. Nil: nothing is left to do.
	Gone func(ctx context.Context, namespace, name string) error
}

// reconciler implements Controller for a Spec.
type reconciler[T Object] struct {
	spec    Spec[T]
	queue   *Queue
	objects keyset
	owners  owners
}

// New returns the controller of a Spec. It starts nothing.
func New[T Object](config Config, spec Spec[T]) Controller {
	r := &reconciler[T]{spec: spec, objects: keyset{}, owners: owners{}}
	r.queue = NewQueue(config, QueueConfig{Name: spec.Name, Workers: cmp.Or(spec.Workers, defaultWorkers), Reconcile: r.reconcile})
	return r
}

// Run implements Controller.
func (r *reconciler[T]) Run(ctx context.Context) error {
	return r.queue.Run(As(ctx, r.spec.Account))
}

// Reset implements Controller. It queues the objects known so far, because their deletion can be
// among the lost changes.
func (r *reconciler[T]) Reset() {
	r.objects.each("", r.queue.Add)
	for _, name := range r.spec.Required {
		r.queue.Add(key("", name))
	}
	r.objects = keyset{}
	r.owners = owners{}
}

// Handle implements Controller.
func (r *reconciler[T]) Handle(change Change) {
	if !change.Located {
		return
	}
	resource := change.Location.Store.Resource().GroupResource()
	if resource == r.spec.Objects.Resource {
		r.objects.set(change.Location.Namespace, change.Location.Name, !change.Deleted)
		r.queue.Add(key(change.Location.Namespace, change.Location.Name))
	}
	if slices.Contains(r.spec.Dependents, resource) {
		affected, orphan := r.owners.update(change, r.spec.Kind)
		for _, owner := range affected {
			r.queue.Add(key(change.Location.Namespace, owner))
		}
		if orphan {
			r.objects.each(change.Location.Namespace, r.queue.Add)
		}
	}
	if slices.Contains(r.spec.Related, resource) {
		r.objects.each(change.Location.Namespace, r.queue.Add)
	}
	if r.spec.Affects != nil {
		if namespace, name, ok := r.spec.Affects(change); ok {
			r.queue.Add(key(namespace, name))
		}
	}
}

func (r *reconciler[T]) reconcile(ctx context.Context, key string) error {
	namespace, name, _ := strings.Cut(key, "/")
	obj, err := r.spec.Objects.Get(ctx, namespace, name)
	switch {
	case apierrors.IsNotFound(err) && r.spec.Gone != nil:
		return r.spec.Gone(ctx, namespace, name)
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	again, err := r.spec.Reconcile(ctx, obj)
	if err == nil && again > 0 {
		r.queue.AddAfter(key, again)
	}
	return err
}

// key returns the key of an object in a queue.
func key(namespace, name string) string { return namespace + "/" + name }
