package registry

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/storage"
)

// Hooks run during writes of one resource. A Begin hook may change the object and write other
// objects, for example to allocate an address. Its transaction ends with the write, also if the
// hook returns an error. BeginDelete also runs for an update that removes the object with its
// last finalizer. A dry run is rolled back. Validate runs after the validation of the kind, also
// for subresources, and returns the errors of both. Complete runs on the valid object with its
// new generation and sets fields that depend on it and on other objects; old is nil for a new
// object. BeginCreate, BeginUpdate and Complete do not run for subresources.
type Hooks struct {
	BeginCreate func(ctx context.Context, store *Store, obj runtime.Object, opts WriteOptions) (Transaction, error)
	BeginUpdate func(ctx context.Context, store *Store, obj, old runtime.Object, opts WriteOptions) (Transaction, error)
	BeginDelete func(ctx context.Context, store *Store, old runtime.Object) Transaction
	Validate    func(ctx context.Context, v Validation, errs field.ErrorList) field.ErrorList
	Complete    func(ctx context.Context, catalog *Catalog, obj, old runtime.Object)
}

// Validation is a write for Hooks.Validate. The objects must not be modified.
type Validation struct {
	Catalog     *Catalog
	Subresource string
	// Verb of the request: create, update or patch.
	Verb string
	// Obj is the new state, and Old the stored one or nil for a new object.
	Obj, Old runtime.Object
}

func (s *Store) beginCreate(ctx context.Context, tx *transaction, obj runtime.Object, opts WriteOptions) error {
	if s.hooks.BeginCreate == nil {
		return nil
	}
	part, err := s.hooks.BeginCreate(ctx, s, obj, opts)
	tx.join(part)
	return errorOfStep(err)
}

func (s *Store) beginUpdate(ctx context.Context, tx *transaction, obj, old runtime.Object, opts WriteOptions) error {
	if s.hooks.BeginUpdate == nil {
		return nil
	}
	part, err := s.hooks.BeginUpdate(ctx, s, obj, old, opts)
	tx.join(part)
	return errorOfStep(err)
}

func (s *Store) beginDelete(ctx context.Context, tx *transaction, old runtime.Object) {
	if s.hooks.BeginDelete != nil {
		tx.join(s.hooks.BeginDelete(ctx, s, old))
	}
}

// errorOfStep returns the error of a hook or an admission step. An unknown outcome of a step is
// not an unknown outcome of the write, which was not sent.
func errorOfStep(err error) error {
	if errors.Is(err, storage.ErrUnknownOutcome) {
		return apierrors.NewInternalError(errors.New(err.Error()))
	}
	return err
}
