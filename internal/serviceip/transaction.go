package serviceip

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// step is a part of a commit or a rollback. It is called until it succeeds.
type step = func(ctx context.Context) error

// transaction tracks the claims and releases of one write of a service.
type transaction struct {
	*Allocator
	store   *registry.Store // of the services
	service *corev1.Service
	dry     bool
	// commit releases what the service no longer has, rollback what the write claimed.
	commit, rollback []step
}

func (a *Allocator) begin(store *registry.Store, obj runtime.Object, opts registry.WriteOptions) *transaction {
	return &transaction{Allocator: a, store: store, service: obj.(*corev1.Service), dry: opts.DryRun}
}

func (tx *transaction) onCommit(s step) { tx.commit = append(tx.commit, s) }

// onRollback adds a step that undoes a claim. err is the result of the claim. The step runs only if
// the claim was written.
func (tx *transaction) onRollback(err error, undo step) {
	if tx.dry {
		return
	}
	tx.rollback = append(tx.rollback, func(ctx context.Context) error {
		claimed, err := registry.Written(ctx, err)
		if err != nil || !claimed {
			return err
		}
		return undo(ctx)
	})
}

func (tx *transaction) result() registry.Transaction {
	return registry.Transaction{Commit: inOrder(tx.commit), Rollback: inOrder(tx.rollback)}
}

// inOrder joins steps. A repeated call runs only the steps that failed.
func inOrder(steps []step) step {
	if len(steps) == 0 {
		return nil
	}
	return func(ctx context.Context) error {
		var errs []error
		steps = slices.DeleteFunc(steps, func(s step) bool {
			err := s(ctx)
			errs = append(errs, err)
			return err == nil
		})
		return errors.Join(errs...)
	}
}
