package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// result holds the return values of the work of a write, or its panic.
type result[T any] struct {
	value    T
	err      error
	panicked error
}

// finish runs the work of a write in a goroutine of its own and returns its
// result, or a 504 with the text of kube-apiserver as soon as the request's
// context ends: work that does not look at its context delays no answer. Work
// that is left behind must not touch the response. It counts as a request in
// flight until it returns: a shutdown waits for it.
func finish[T any](c *call, work func(ctx context.Context) (T, error)) (T, error) {
	ctx := c.r.Context()
	done := make(chan result[T], 1)
	go func() { done <- run(ctx, work) }() // left behind, it belongs to the lifecycle
	select {
	case got := <-done:
		if got.panicked != nil {
			panic(got.panicked)
		}
		return got.value, got.err
	case <-ctx.Done():
		s := c.server
		left := newFlight(c.r)
		s.life.leave(left)
		go func() { // ends with the work
			s.logLate(c.r, (<-done).panicked)
			s.life.arrive(left)
		}()
		var none T
		return none, apierrors.NewTimeoutError(fmt.Sprintf("request did not complete within requested timeout - %v", ctx.Err()), 0)
	}
}

// run calls work and catches a panic.
func run[T any](ctx context.Context, work func(ctx context.Context) (T, error)) (got result[T]) {
	defer func() {
		if reason := recover(); reason != nil {
			got.panicked = &workPanic{reason, debug.Stack()}
		}
	}()
	got.value, got.err = work(ctx)
	return got
}

// workPanic carries a panic to the goroutine of its request.
type workPanic struct {
	reason any
	stack  []byte
}

// Error implements error.
func (p *workPanic) Error() string { return fmt.Sprint(p.reason) }

// logLate logs the panic of work that was left behind.
func (s *Server) logLate(r *http.Request, panicked error) {
	var p *workPanic
	if errors.As(panicked, &p) {
		s.logPanic(r, p)
	}
}
