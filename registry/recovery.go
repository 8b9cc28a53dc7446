package registry

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// recoveryDelay is the time between two attempts to end transactions. It
	// doubles with every attempt that fails, up to the maximum.
	recoveryDelay    = 100 * time.Millisecond
	maxRecoveryDelay = 10 * time.Second
	// recoveryTimeout bounds an attempt, and the last one, when the server stops.
	recoveryTimeout     = 10 * time.Second
	lastRecoveryTimeout = 2 * time.Second
)

// recovery ends the transactions that could not end within their requests: those
// of writes whose outcome is unknown, and those whose commit or rollback failed.
type recovery struct {
	logger *slog.Logger
	added  chan struct{} // holds a token after an addition

	mu      sync.Mutex
	pending []*transaction // guarded by mu
}

func newRecovery(logger *slog.Logger) *recovery {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &recovery{logger: logger, added: make(chan struct{}, 1)}
}

// Run ends transactions that could not end within their requests. It returns
// when ctx has ended and one more attempt was made, and never fails.
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
			retry, added = time.After(delay), nil // a new one must not cut the delay short
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
	if left := r.attempt(context.WithoutCancel(ctx), lastRecoveryTimeout); left > 0 {
		r.logger.WarnContext(ctx, "the server stops before the outcome of writes is known: what they have charged or claimed is kept", "writes", left)
	}
}

// attempt returns how many of the pending transactions are left.
func (r *recovery) attempt(ctx context.Context, timeout time.Duration) (left int) {
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
			r.logger.DebugContext(ctx, "a write is not ended yet", "error", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = append(failed, r.pending...)
	return len(failed)
}

// lost logs that a change is kept, because it cannot be committed or rolled back.
func (r *recovery) lost(ctx context.Context, err error) {
	r.logger.WarnContext(ctx, "what a write has charged or claimed is kept: it cannot be ended", "error", err)
}
