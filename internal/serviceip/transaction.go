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

// transaction is what one write of a service claims and releases.
type transaction struct {
	*Allocator
	store   *registry.Store // of the services
	service *corev1.Service
	dry     bool
	// commit releases what the service no longer needs, rollback what the write
	// has claimed.
	commit, rollback []step
}

func (a *Allocator) begin(store *registry.Store, obj runtime.Object, opts registry.WriteOptions) *transaction {
	return &transaction{Allocator: a, store: store, service: obj.(*corev1.Service), dry: opts.DryRun}
}

func (tx *transaction) onCommit(s step) { tx.commit = append(tx.commit, s) }

// onRollback adds the step that undoes a claim which returned err, if the claim
// has happened.
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

// inOrder joins steps. When it is called again only those run that have failed.
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
