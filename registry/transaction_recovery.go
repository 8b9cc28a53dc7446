package registry

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// recoveryDelay is the time between two attempts to end transactions. It doubles after each
	// attempt that fails, up to maxRecoveryDelay.
	recoveryDelay    = 100 * time.Millisecond
	maxRecoveryDelay = 10 * time.Second
	// recoveryTimeout bounds an attempt, and lastRecoveryTimeout the attempt when the server
	// stops.
	recoveryTimeout     = 10 * time.Second
	lastRecoveryTimeout = 2 * time.Second
)

// recovery ends the transactions that could not end within their requests, because the outcome of
// the write is unknown or because the commit or rollback failed.
type recovery struct {
	logger *slog.Logger
	added  chan struct{} // has an element after an addition

	mu      sync.Mutex
	pending []*transaction // guarded by mu
}

func newRecovery(logger *slog.Logger) *recovery {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &recovery{logger: logger, added: make(chan struct{}, 1)}
}

// Run ends the transactions that could not end within their requests. It returns nil after ctx
// has ended and one more attempt was made.
func (c *Catalog) Run(ctx context.Context) error {
	c.recovery.run(ctx)
	return nil
}

func (r *recovery) add(t *transaction) {
	r.mu.Lock()
	r.pending = append(r.pending, t)
	r.mu.Unlock()
	select {
	case r.added <- struct{}{}:
	default:
	}
}

func (r *recovery) run(ctx context.Context) {
	delay := recoveryDelay
	for ctx.Err() == nil {
		var retry <-chan time.Time
		added := r.added
		if r.attempt(ctx, recoveryTimeout) > 0 {
			retry, added = time.After(delay), nil // a new transaction does not shorten the delay
			delay = min(2*delay, maxRecoveryDelay)
		} else {
			delay = recoveryDelay
		}
		select {
		case <-ctx.Done():
		case <-retry:
		case <-added:
		}
	}
	if remaining := r.attempt(context.WithoutCancel(ctx), lastRecoveryTimeout); remaining > 0 {
		r.logger.WarnContext(ctx, "the server stops before the outcome of writes is known: their quota charges and allocations are kept", "writes", remaining)
	}
}

// attempt runs the pending transactions and returns the number that remain.
func (r *recovery) attempt(ctx context.Context, timeout time.Duration) (remaining int) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r.mu.Lock()
	pending := r.pending
	r.pending = nil
	r.mu.Unlock()
	var failed []*transaction
	for _, t := range pending {
		if err := t.run(ctx); err != nil {
			failed = append(failed, t)
			r.logger.DebugContext(ctx, "the transaction of a write is pending", "error", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = append(failed, r.pending...)
	return len(failed)
}

// lost logs that a change is kept, because it cannot be committed or rolled back.
func (r *recovery) lost(ctx context.Context, err error) {
	r.logger.WarnContext(ctx, "the quota charges and allocations of a write are kept: its transaction cannot be ended", "error", err)
}
