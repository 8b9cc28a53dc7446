package memory

import (
	"context"
	"sync"
)

// Reservation holds the bytes that one request has reserved. Safe for concurrent use.
type Reservation struct {
	budget *Budget

	mu       sync.Mutex // guards the fields below
	size     int64
	released bool
}

// Reserve returns an empty Reservation. The caller must call Release.
func (b *Budget) Reserve() *Reservation { return &Reservation{budget: b} }

// Grow reserves further bytes, or returns ErrExhausted. After Release it has no effect: the work of
// a request may continue after its response.
func (r *Reservation) Grow(bytes int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.released {
		return nil
	}
	if err := r.budget.reserve(bytes, r.size); err != nil {
		return err
	}
	r.size += bytes
	return nil
}

// Release returns all bytes to the budget.
func (r *Reservation) Release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.budget.used.Add(-r.size)
	r.size, r.released = 0, true
}

type contextKey struct{}

// WithReservation returns a context with the reservation of a request.
func WithReservation(ctx context.Context, r *Reservation) context.Context {
	return context.WithValue(ctx, contextKey{}, r)
}

// Grow enlarges the reservation of a request, or returns ErrExhausted. It has no effect in a
// context without a reservation.
func Grow(ctx context.Context, bytes int64) error {
	if r, ok := ctx.Value(contextKey{}).(*Reservation); ok {
		return r.Grow(bytes)
	}
	return nil
}
