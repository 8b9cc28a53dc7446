package api

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// lifecycle knows the requests in flight, so that a shutdown waits for them
// and for nothing else: not for connections which never sent a request.
type lifecycle struct {
	// ending is done when the shutdown begins; watches end with it.
	ending context.Context
	end    context.CancelFunc

	// left counts the open requests that have been answered although their work
	// goes on.
	left atomic.Int64

	mu    sync.Mutex // guards what follows
	ended bool
	open  ring
	// idle is closed when nothing is in flight; nil while nobody waits for that.
	idle chan struct{}
}

func newLifecycle() *lifecycle {
	l := &lifecycle{open: newRing()}
	l.ending, l.end = context.WithCancel(context.Background())
	return l
}

// begin takes a request in. It is false once the shutdown has begun.
func (l *lifecycle) begin(f *flight) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.open.add(f)
	return true
}

// done takes a request out.
func (l *lifecycle) done(f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.remove()
	if l.idle != nil && l.open.empty() {
		close(l.idle)
		l.idle = nil
	}
}

// leave takes in the work that an answered request left behind, while the
// request itself is still open.
func (l *lifecycle) leave(f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open.add(f)
	l.left.Add(1)
}

// arrive takes out work that was left behind and has ended.
func (l *lifecycle) arrive(f *flight) {
	l.left.Add(-1)
	l.done(f)
}

// shutdown may be called several times and from several goroutines.
func (l *lifecycle) shutdown(ctx context.Context) error {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.end()
	return l.awaitIdle(ctx)
}

// awaitIdle returns when nothing is in flight, or with the error of ctx.
func (l *lifecycle) awaitIdle(ctx context.Context) error {
	idle := l.becomesIdle()
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

// becomesIdle returns nil if nothing is in flight.
func (l *lifecycle) becomesIdle() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open.empty() {
		return nil
	}
	if l.idle == nil {
		l.idle = make(chan struct{})
	}
	return l.idle
}

// countRequests is the middleware of lifecycle.
func (s *Server) countRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := newFlight(r)
		if !s.life.begin(f) {
			// Nothing was done, so this may carry Retry-After: behind a load
			// balancer another replica answers the second try.
			w.Header().Set("Connection", "close")
			w.Header().Set("Retry-After", "1")
			s.responder.WriteError(w, r, apierrors.NewServiceUnavailable("the server is shutting down"))
			return
		}
		defer s.life.done(f)
		next.ServeHTTP(w, r)
	})
}
