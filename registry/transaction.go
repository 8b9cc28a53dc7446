package registry

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/storage"
)

// endTimeout bounds the end of a transaction within its request.
const endTimeout = 10 * time.Second

// Transaction is a change that a hook or an admission step makes to other objects for a write,
// such as an allocated address or a charged quota. When the outcome of the write is certain, one
// of the functions is called: Commit if the write happened, Rollback if it did not. If the
// function fails it is called again later, so it must continue where it failed; see [Once]. If
// the outcome cannot be resolved neither is called. The contexts outlive the request. A function
// may be nil.
type Transaction struct {
	Commit, Rollback func(ctx context.Context) error
}

// Written reports whether a write that returned err has happened. It resolves unknown outcomes;
// an error means that the outcome is not known yet, and ErrCompacted that it cannot be resolved
// any more.
func Written(ctx context.Context, err error) (bool, error) {
	var unknown *storage.UnknownOutcomeError
	if !errors.As(err, &unknown) {
		return err == nil, nil
	}
	revision, err := unknown.Resolve(ctx)
	return revision > 0, err
}

// Once returns a function that executes a write. A call after a failure executes the write again,
// unless it has happened despite the error.
func Once(write func(ctx context.Context) error) func(ctx context.Context) error {
	result := errors.New("not tried")
	return func(ctx context.Context) error {
		written, err := Written(ctx, result)
		if err == nil && !written {
			result = write(ctx)
			err = result
		}
		return err
	}
}

// transaction groups the transactions of one attempt of a write. The first call of end or
// rollback ends it, later calls do nothing. So a rollback can be deferred.
type transaction struct {
	recovery *recovery
	parts    []Transaction
	ended    bool
	// written is the outcome of the write if unknown is nil.
	written bool
	unknown *storage.UnknownOutcomeError
}

// begin starts the transaction of an attempt.
func (b *base) begin() *transaction { return &transaction{recovery: b.catalog.recovery} }

func (t *transaction) join(part Transaction) {
	if part.Commit != nil || part.Rollback != nil {
		t.parts = append(t.parts, part)
	}
}

// isNeeded reports whether a part depends on the outcome of the write.
func (t *transaction) isNeeded() bool { return len(t.parts) > 0 }

func (t *transaction) rollback(ctx context.Context) { t.finish(ctx) }

// end commits or rolls back, depending on the result of the write.
func (t *transaction) end(ctx context.Context, err error, dryRun bool) {
	if !t.ended {
		t.written = err == nil && !dryRun
		errors.As(err, &t.unknown)
	}
	t.finish(ctx)
}

func (t *transaction) finish(ctx context.Context) {
	if t.ended {
		return
	}
	t.ended = true
	if len(t.parts) == 0 {
		return
	}
	if t.unknown != nil { // the storage has tried to resolve it
		t.recovery.add(t)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := t.run(ctx); err != nil {
		t.recovery.add(t)
	}
}

// run calls the remaining Commit or Rollback functions. After an error some of them remain, and
// run must be called again.
func (t *transaction) run(ctx context.Context) error {
	if t.unknown != nil {
		written, err := Written(ctx, t.unknown)
		if err != nil {
			return t.giveUp(ctx, err)
		}
		t.written, t.unknown = written, nil
	}
	var remaining []Transaction
	var errs []error
	for _, part := range slices.Backward(t.parts) {
		step := part.Rollback
		if t.written {
			step = part.Commit
		}
		if step == nil {
			continue
		}
		if err := step(ctx); isTemporary(err) {
			remaining, errs = append(remaining, part), append(errs, err)
		} else if err != nil {
			t.recovery.lost(ctx, err)
		}
	}
	slices.Reverse(remaining)
	t.parts = remaining
	return errors.Join(errs...)
}

// giveUp ends the transaction if its outcome can no longer be resolved. Its allocations and
// charges are kept.
func (t *transaction) giveUp(ctx context.Context, err error) error {
	if isTemporary(err) {
		return err
	}
	t.parts = nil
	t.recovery.lost(ctx, err)
	return nil
}

// isTemporary reports whether an operation that returned err may succeed later.
func isTemporary(err error) bool {
	for _, sentinel := range []error{storage.ErrUnavailable, storage.ErrUnknownOutcome, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, sentinel) {
			return true
		}
	}
	return apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsInternalError(err) ||
		apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err)
}
