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

// Transaction is what a hook or an admission step changes elsewhere for a write,
// such as an address that it takes or a quota that it charges. When the outcome
// of the write is certain one of the functions is called: Commit if the write
// happened, Rollback if it did not. If the function fails it is called again
// later, so it must continue where it failed; see [Once]. If the outcome can not
// be found out neither is called. The contexts outlive the request. A function
// may be nil.
type Transaction struct {
	Commit, Rollback func(ctx context.Context) error
}

// Written returns whether a write that returned err has happened, an error if
// that is not known at present. It resolves unknown outcomes. An
// ErrCompacted says that this is no longer possible.
func Written(ctx context.Context, err error) (bool, error) {
	var unknown *storage.UnknownOutcomeError
	if !errors.As(err, &unknown) {
		return err == nil, nil
	}
	revision, err := unknown.Resolve(ctx)
	return revision > 0, err
}

// Once returns a function that carries out a write the first time it is called,
// and again when it is called after a failure, unless the write has happened
// nevertheless.
func Once(write func(ctx context.Context) error) func(ctx context.Context) error {
	last := errors.New("not tried")
	return func(ctx context.Context) error {
		written, err := Written(ctx, last)
		if err == nil && !written {
			last = write(ctx)
			err = last
		}
		return err
	}
}

// transaction joins the transactions of one attempt of a write. The first call
// of end or rollback ends it, later ones do nothing: so a rollback can be
// deferred.
type transaction struct {
	recovery *recovery
	parts    []Transaction
	ended    bool
	// written is the outcome of the write unless unknown is set.
	written bool
	unknown *storage.UnknownOutcomeError
}

// begin returns the transaction of an attempt of a write.
func (b *base) begin() *transaction { return &transaction{recovery: b.catalog.recovery} }

func (t *transaction) join(part Transaction) {
	if part.Commit != nil || part.Rollback != nil {
		t.parts = append(t.parts, part)
	}
}

// isNeeded returns whether something depends on the outcome of the write.
func (t *transaction) isNeeded() bool { return len(t.parts) > 0 }

func (t *transaction) rollback(ctx context.Context) { t.finish(ctx) }

// end commits or rolls back, by the result of the write.
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
	if t.unknown != nil { // the storage has just tried to resolve it
		t.recovery.add(t)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := t.run(ctx); err != nil {
		t.recovery.add(t)
	}
}

// run runs the remaining commits or rollbacks. After an error some remain, and run must
// be called again.
func (t *transaction) run(ctx context.Context) error {
	if t.unknown != nil {
		written, err := Written(ctx, t.unknown)
		if err != nil {
			return t.giveUp(ctx, err)
		}
		t.written, t.unknown = written, nil
	}
	var left []Transaction
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
			left, errs = append(left, part), append(errs, err)
		} else if err != nil {
			t.recovery.lost(ctx, err)
		}
	}
	slices.Reverse(left)
	t.parts = left
	return errors.Join(errs...)
}

// giveUp ends the transaction if its outcome can no longer be resolved. Its allocations
// and charges are kept.
func (t *transaction) giveUp(ctx context.Context, err error) error {
	if isTemporary(err) {
		return err
	}
	t.parts = nil
	t.recovery.lost(ctx, err)
	return nil
}

// isTemporary returns whether an error is one of the storage or of the server,
// which may be gone at another time.
func isTemporary(err error) bool {
	for _, sentinel := range []error{storage.ErrUnavailable, storage.ErrUnknownOutcome, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, sentinel) {
			return true
		}
	}
	return apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsInternalError(err) ||
		apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err)
}
