package api

import (
	"context"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// lifecycle counts the requests in flight, so that a shutdown waits for them
// and for nothing else: not for connections which never sent a request.
type lifecycle struct {
	// ending is done when the shutdown begins; watches end with it.
	ending context.Context
	end    context.CancelFunc

	mu       sync.Mutex // guards what follows
	ended    bool
	inFlight int
	// idle is closed when ended is set and nothing is in flight any more.
	idle chan struct{}
}

func newLifecycle() *lifecycle {
	l := &lifecycle{idle: make(chan struct{})}
	l.ending, l.end = context.WithCancel(context.Background())
	return l
}

// begin counts a request in. It is false once the shutdown has begun.
func (l *lifecycle) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.inFlight++
	return true
}

// done counts a request out.
func (l *lifecycle) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
	if l.ended && l.inFlight == 0 {
		close(l.idle)
	}
}

// shutdown may be called several times and from several goroutines.
func (l *lifecycle) shutdown(ctx context.Context) error {
	l.mu.Lock()
	if !l.ended {
		l.ended = true
		l.end()
		if l.inFlight == 0 {
			close(l.idle)
		}
	}
	l.mu.Unlock()
	select {
	case <-l.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// countRequests is the middleware of lifecycle.
func (s *Server) countRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.life.begin() {
			// Nothing was done, so this may carry Retry-After: behind a load
			// balancer another replica answers the second try.
			w.Header().Set("Connection", "close")
			w.Header().Set("Retry-After", "1")
			s.writeError(w, r, apierrors.NewServiceUnavailable("the server is shutting down"))
			return
		}
		defer s.life.done()
		next.ServeHTTP(w, r)
	})
}
