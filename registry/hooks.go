package registry

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

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

// errorOfStep returns the error of a hook or an admission step. An unknown
// outcome of such a step is not the outcome of the write itself, which was not sent.
func errorOfStep(err error) error {
	if errors.Is(err, storage.ErrUnknownOutcome) {
		return apierrors.NewInternalError(errors.New(err.Error()))
	}
	return err
}
