package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Strategy is what one kind does differently from the next. Nil functions do
// nothing. All of them may run several times for one request, on copies: they
// must not keep anything from one run to the next.
type Strategy struct {
	Create CreateStrategy
	Update UpdateStrategy
	Delete DeleteStrategy
	// TTL in seconds of an object that is written, 0 for ever; update tells
	// whether it existed before. Nil: for ever.
	TTL func(obj runtime.Object, update bool) int64
	// Canonicalize brings an object into the one form it is stored in, after
	// validation.
	Canonicalize func(obj runtime.Object)
}

// CreateStrategy holds for POST and for a PUT that creates.
type CreateStrategy struct {
	// ValidateName; nil: any path segment.
	ValidateName validation.ValidateNameFunc
	// Prepare drops and fills what clients may not decide, such as status.
	Prepare  func(ctx context.Context, obj runtime.Object)
	Validate func(ctx context.Context, obj runtime.Object) field.ErrorList
	// Forbidden may refuse that the object is created. Nil allows.
	Forbidden func(obj runtime.Object) error
	// Warnings go to the client as Warning headers.
	Warnings func(ctx context.Context, obj runtime.Object) []string
}

// UpdateStrategy holds for writes to an object that exists, one for the
// resource itself and one for each subresource of the same kind.
type UpdateStrategy struct {
	// AllowCreate lets a PUT create what is not there.
	AllowCreate bool
	// AllowUnconditional lets a write without resourceVersion apply to
	// whatever is the latest.
	AllowUnconditional bool
	// Prepare puts back what this write may not change.
	Prepare  func(ctx context.Context, obj, old runtime.Object)
	Validate func(ctx context.Context, obj, old runtime.Object) field.ErrorList
	Warnings func(ctx context.Context, obj, old runtime.Object) []string
	// Owns picks, of the fields that a client sends, those it comes to own: what
	// Prepare puts back is not among them. Nil: all. For the resource itself it
	// holds for creations too.
	Owns fieldpath.Filter
}

// DeleteStrategy holds for deletions.
type DeleteStrategy struct {
	// GracePeriod returns the seconds between a deletion and the removal, given
	// what the client asked for; nil, or a nil result: the kind knows no
	// graceful deletion.
	GracePeriod func(obj runtime.Object, opts *metav1.DeleteOptions) *int64
	// Holds reports whether something other than metadata.finalizers keeps a
	// deleted object from being removed, as the finalizers in a namespace's
	// spec do.
	Holds func(obj runtime.Object) bool
	// Mark changes an object that Holds keeps, on its first deletion. The
	// finalizers of the garbage collector are its task too.
	Mark func(obj runtime.Object, opts *metav1.DeleteOptions)
	// ReturnObject answers with the deleted object instead of a Status.
	ReturnObject bool
	// DefaultPropagation applies where a client names none; "" is Background.
	DefaultPropagation metav1.DeletionPropagation
	// Warnings go to the client as Warning headers, given what it asked for.
	Warnings func(opts *metav1.DeleteOptions) []string
	// NoDependents: nothing depends on objects of this kind, so how a deletion
	// propagates means nothing.
	NoDependents bool
	// Forbidden may refuse the deletion of an object. Nil allows.
	Forbidden func(obj runtime.Object) error
}

// Hooks surround a write of a resource. Validate runs after the kind's own validation, on writes
// of subresources too, and returns the errors of both. A Begin hook may change the object and
// write elsewhere, as in allocating an address; its transaction ends with the write, also if the
// hook returns an error. An update that takes away the last finalizer, so that the object is
// removed, does not happen: it is a deletion. Complete adds to an object, which it finds valid
// and with its new generation, what follows from it and from other objects; old is nil for a new
// one. BeginCreate, BeginUpdate and Complete do not concern writes of subresources. A dry run is
// rolled back.
type Hooks struct {
	BeginCreate func(ctx context.Context, store *Store, obj runtime.Object, opts WriteOptions) (Transaction, error)
	BeginUpdate func(ctx context.Context, store *Store, obj, old runtime.Object, opts WriteOptions) (Transaction, error)
	BeginDelete func(ctx context.Context, store *Store, old runtime.Object) Transaction
	Validate    func(ctx context.Context, v Validation, errs field.ErrorList) field.ErrorList
	Complete    func(ctx context.Context, catalog *Catalog, obj, old runtime.Object)
}

// Validation is a write that Hooks.Validate looks at. Objects must not be written to.
type Validation struct {
	Catalog     *Catalog
	Subresource string
	// Verb of the request: create, update or patch.
	Verb string
	// Obj is the new state, Old the stored one, nil for a new object.
	Obj, Old runtime.Object
}
