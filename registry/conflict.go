package registry

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// Conflict is a write that was rejected because the stored object is not the state that the write
// is based on.
type Conflict struct {
	Store           *Store
	Key             string
	Namespace, Name string
	// Subresource and Version are taken from the request; Version "" is the hub.
	Subresource, Version string
	// Base is the revision in the write, 0 if the write has none.
	Base int64
	// Replaced is set if the UID in the write differs from the UID of the stored object: the object
	// was deleted and created again.
	Replaced bool
	// Current is the stored object.
	Current *storage.Entry
	// Submit returns the object that the write would store over a base, which is in the hub version
	// and must not be modified. A patch is applied to the base. Nil: the write is a deletion.
	Submit func(ctx context.Context, base runtime.Object) (runtime.Object, error)
}

// ConflictExplainer explains conflicts to clients.
type ConflictExplainer interface {
	// Explain returns the causes to add to the Status of a conflict. It may add warnings to the
	// response. The storage has finished the rejected write.
	Explain(ctx context.Context, c *Conflict) []metav1.StatusCause
}

// explain adds the causes of a conflict to its Status. Any other error is unchanged, and so is the
// message of the Status, which clients may compare.
func (s *Store) explain(ctx context.Context, c *Conflict, err error) error {
	explainer := s.catalog.config.Conflicts
	var status *apierrors.StatusError
	if explainer == nil || c == nil || !errors.As(err, &status) || !apierrors.IsConflict(err) {
		return err
	}
	explained := &apierrors.StatusError{ErrStatus: *status.ErrStatus.DeepCopy()}
	if explained.ErrStatus.Details == nil {
		explained.ErrStatus.Details = &metav1.StatusDetails{}
	}
	details := explained.ErrStatus.Details
	details.Causes = append(details.Causes, explainer.Explain(ctx, c)...)
	return explained
}

// newConflict returns the conflict of an update based on a revision, 0 for a conflict of the UID.
func (op *updateOp) newConflict(base int64, current *storage.Entry) *Conflict {
	c := &Conflict{
		Store: op.store, Key: op.key, Namespace: op.req.Namespace, Name: op.req.Name,
		Subresource: op.req.Subresource, Version: op.req.Options.Version,
		Base: base, Replaced: base == 0, Current: current, Submit: op.submit,
	}
	if op.view != nil { // the version of a view is not a version of the object
		c.Version = ""
	}
	return c
}

// submit is Conflict.Submit. It runs neither validation nor admission.
func (op *updateOp) submit(ctx context.Context, base runtime.Object) (runtime.Object, error) {
	if op.view == nil {
		return op.req.Propose(ctx, base)
	}
	view, err := op.view.base(base)
	if err != nil {
		return nil, err
	}
	if view, err = op.req.Propose(ctx, view); err != nil {
		return nil, err
	}
	obj := base.DeepCopyObject()
	return obj, op.view.ToObject(view, obj)
}

// newConflict returns the conflict of a deletion with preconditions.
func (op *deleteOp) newConflict(stored metav1.Object, current *storage.Entry) *Conflict {
	c := &Conflict{
		Store: op.store, Key: op.key, Namespace: op.req.Namespace, Name: op.req.Name,
		Version: op.req.Version, Current: current,
	}
	expected := op.options.Preconditions
	c.Replaced = expected.UID != nil && *expected.UID != stored.GetUID()
	if expected.ResourceVersion != nil {
		c.Base, _ = op.store.storage.Versioner().ParseResourceVersion(*expected.ResourceVersion) // 0 for an invalid one
	}
	return c
}
