package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Strategy has the rules of a kind. Nil functions do nothing. All functions may run several times
// for one request, on copies, and must not keep state between runs.
type Strategy struct {
	Create CreateStrategy
	Update UpdateStrategy
	Delete DeleteStrategy
	// TTL returns the time to live in seconds of a written object, 0 for unlimited; update is set
	// for an existing object. Nil: unlimited.
	TTL func(obj runtime.Object, update bool) int64
	// Canonicalize normalizes a valid object before it is stored.
	Canonicalize func(obj runtime.Object)
	// ArrangeErrors returns the errors of metadata and kind as a client gets them. Nil: unchanged.
	ArrangeErrors func(errs field.ErrorList) field.ErrorList
}

// arrange calls ArrangeErrors.
func (s *Strategy) arrange(errs field.ErrorList) field.ErrorList {
	if len(errs) == 0 || s.ArrangeErrors == nil {
		return errs
	}
	return s.ArrangeErrors(errs)
}

// CreateStrategy applies to POST and to a PUT that creates.
type CreateStrategy struct {
	// ValidateName validates the name. Nil: any path segment.
	ValidateName validation.ValidateNameFunc
	// MetadataLast validates the metadata only if Validate returns no errors. The name is any path
	// segment then.
	MetadataLast bool
	// GenerateName returns a name for a generateName. Nil appends a random suffix.
	GenerateName func(base string) string
	// Prepare clears and sets the fields that clients may not set, such as status.
	Prepare  func(ctx context.Context, obj runtime.Object)
	Validate func(ctx context.Context, obj runtime.Object) field.ErrorList
	// Forbidden may reject the creation of an object. Nil allows it.
	Forbidden func(obj runtime.Object) error
	// Warnings are sent as Warning headers.
	Warnings func(ctx context.Context, obj runtime.Object) []string
}

// UpdateStrategy applies to writes of an existing object, one for the resource itself and one for
// each subresource of the same kind.
type UpdateStrategy struct {
	// AllowCreate allows a PUT to create an absent object.
	AllowCreate bool
	// AllowUnconditional allows a write without resourceVersion, which applies to the latest
	// state.
	AllowUnconditional bool
	// Prepare restores the fields that this write may not change.
	Prepare  func(ctx context.Context, obj, old runtime.Object)
	Validate func(ctx context.Context, obj, old runtime.Object) field.ErrorList
	Warnings func(ctx context.Context, obj, old runtime.Object) []string
	// Owns selects the fields that the writer owns, without those that Prepare restores. Nil: all
	// fields. The Owns of the resource itself applies to creates, too.
	Owns fieldpath.Filter
}

// DeleteStrategy applies to deletions.
type DeleteStrategy struct {
	// GracePeriod returns the seconds between the deletion and the removal, given the options of
	// the request. Nil, or a nil result: the kind has no graceful deletion.
	GracePeriod func(obj runtime.Object, opts *metav1.DeleteOptions) *int64
	// Holds reports whether something other than metadata.finalizers keeps a deleted object, as
	// the finalizers in the spec of a namespace do.
	Holds func(obj runtime.Object) bool
	// PreconditionText begins the message of a failed precondition of an object that Holds keeps.
	// "": the text of storage.ErrPrecondition.
	PreconditionText string
	// Mark changes an object that Holds keeps, on its first deletion. It also sets the finalizers
	// of the garbage collector.
	Mark func(obj runtime.Object, opts *metav1.DeleteOptions)
	// ReturnObject makes the response the deleted object instead of a Status.
	ReturnObject bool
	// DefaultPropagation applies to requests without a policy; "" is Background.
	DefaultPropagation metav1.DeletionPropagation
	// Warnings returns the warnings for the options of the request.
	Warnings func(opts *metav1.DeleteOptions) []string
	// NoDependents is set for kinds without dependents: propagation policies have no effect.
	NoDependents bool
	// Forbidden may reject the deletion of an object. Nil allows it.
	Forbidden func(obj runtime.Object) error
	// Empty returns the object in the response to a dry run that would remove the last finalizer.
	// Nil: a zero object.
	Empty func() runtime.Object
}
