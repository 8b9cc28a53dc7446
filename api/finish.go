package api

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/api/filters"
)

// result holds the results of a write, or its panic.
type result[T any] struct {
	value    T
	err      error
	panicked *filters.Panic
}

// finish runs write in its own goroutine and returns its results. When the request's context ends
// first, it returns a 504 with the text of kube-apiserver, so that a write that does not check its
// context does not delay the response. Such a write must not use the response. It counts as a
// request in flight until it returns, and a shutdown waits for it.
func finish[T any](c *call, write func(ctx context.Context) (T, error)) (T, error) {
	ctx := c.r.Context()
	done := make(chan result[T], 1)
	go func() { done <- run(ctx, write) }() // tracked by lifecycle.Tracker
	select {
	case got := <-done:
		if got.panicked != nil {
			panic(got.panicked)
		}
		return got.value, got.err
	case <-ctx.Done():
		s := c.server
		detached := s.requests.AddDetached(c.r)
		go func() { // ends with the write
			if got := <-done; got.panicked != nil {
				got.panicked.Log(s.config.Logger, c.r)
			}
			s.requests.RemoveDetached(detached)
		}()
		var none T
		return none, apierrors.NewTimeoutError(fmt.Sprintf("request did not complete within requested timeout - %v", ctx.Err()), 0)
	}
}

// run calls write and recovers a panic.
func run[T any](ctx context.Context, write func(ctx context.Context) (T, error)) (got result[T]) {
	defer func() {
		if value := recover(); value != nil {
			got.panicked = filters.NewPanic(value)
		}
	}()
	got.value, got.err = write(ctx)
	return got
}
