package api

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/api/filters"
	"github.com/miniapi/miniapi/internal/stack"
	"github.com/miniapi/miniapi/registry"
)

// write handles a PUT or PATCH with an update request.
func (c *call) write(req registry.UpdateRequest) error {
	result, err := runWrite(c, func(ctx context.Context) (registry.Result, error) {
		return c.store.Update(ctx, req)
	})
	if err != nil {
		return err
	}
	c.syncCatalog()
	status := http.StatusOK
	if result.Created {
		status = http.StatusCreated
	}
	return c.respondEntry(status, result.Entry)
}

// syncCatalog waits, after a write to a resource that defines other resources, until the catalog
// serves them.
func (c *call) syncCatalog() {
	if sync := c.server.config.Sync; c.resource.Defines && sync != nil {
		sync(c.r.Context())
	}
}

// result holds the results of a write, or its panic.
type result[T any] struct {
	value    T
	err      error
	panicked *filters.Panic
}

// runWrite runs write in its own goroutine and returns its results. When the request's context ends
// first, it returns a 504 with the text of kube-apiserver, so that a write that does not check its
// context does not delay the response. Such a write must not use the response. It counts as a
// request in flight until it returns, and a shutdown waits for it.
func runWrite[T any](c *call, write func(ctx context.Context) (T, error)) (T, error) {
	ctx := c.writeContext()
	done := make(chan result[T], 1)
	go func() { done <- callWrite(ctx, write) }() // tracked by lifecycle.Tracker
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

// callWrite calls write and recovers a panic.
func callWrite[T any](ctx context.Context, write func(ctx context.Context) (T, error)) (got result[T]) {
	defer func() {
		if value := recover(); value != nil {
			got.panicked = filters.NewPanic(value)
		}
	}()
	stack.Reserve()
	got.value, got.err = write(ctx)
	return got
}
