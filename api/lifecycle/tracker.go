package lifecycle

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/miniapi/miniapi/internal/broadcast"
)

// Tracker tracks open requests, so that a shutdown waits for them and not for connections that
// never sent a request. Safe for concurrent use.
type Tracker struct {
	stopping context.Context // see Stopping
	stop     context.CancelFunc

	// detached counts the requests that were answered before their work ended.
	detached atomic.Int64
	// changed notifies that the open requests or the progress of a watch have changed.
	changed broadcast.Broadcast

	mu      sync.Mutex // guards the fields below
	stopped bool
	open    list
	idle    chan struct{} // closed when no request is open; nil while nothing waits for it
}

// NewTracker returns a Tracker without open requests.
func NewTracker() *Tracker {
	t := &Tracker{open: newList()}
	t.stopping, t.stop = context.WithCancel(context.Background())
	return t
}

// Stopping returns a context that is done as soon as the shutdown begins. Watches end with it.
func (t *Tracker) Stopping() context.Context { return t.stopping }

// Add tracks a request until Remove is called. It returns nil once the shutdown has begun.
func (t *Tracker) Add(r *http.Request) *Request {
	tracked := newRequest(r)
	defer t.changed.Notify()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return nil
	}
	t.open.add(tracked)
	return tracked
}

// Remove ends the tracking that Add began.
func (t *Tracker) Remove(tracked *Request) {
	defer t.changed.Notify()
	t.mu.Lock()
	defer t.mu.Unlock()
	tracked.unlink()
	if t.idle != nil && t.open.empty() {
		close(t.idle)
		t.idle = nil
	}
}

// AddDetached tracks work that continues after its request is answered, until RemoveDetached is
// called. The request itself must still be open.
func (t *Tracker) AddDetached(r *http.Request) *Request {
	tracked := newRequest(r)
	defer t.changed.Notify()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open.add(tracked)
	t.detached.Add(1)
	return tracked
}

// RemoveDetached ends the tracking that AddDetached began.
func (t *Tracker) RemoveDetached(tracked *Request) {
	t.detached.Add(-1)
	t.Remove(tracked)
}

// Detached returns the number of requests that AddDetached tracks.
func (t *Tracker) Detached() int64 { return t.detached.Load() }

// Shutdown rejects new requests, ends Stopping and waits as AwaitIdle does. It may be called
// several times.
func (t *Tracker) Shutdown(ctx context.Context) error {
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
	t.stop()
	return t.AwaitIdle(ctx)
}

// AwaitIdle waits until no request is open, or until ctx is done, whose error it then returns.
func (t *Tracker) AwaitIdle(ctx context.Context) error {
	idle := t.idleSignal()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// idleSignal returns a channel that is closed when no request is open, or nil if none is open now.
func (t *Tracker) idleSignal() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open.empty() {
		return nil
	}
	if t.idle == nil {
		t.idle = make(chan struct{})
	}
	return t.idle
}
