package registry

import (
	"context"
	"sync"
)

// creations counts the creations in progress in each namespace.
type creations struct {
	mu      sync.Mutex // guards all below
	running map[string]*creationGroup
}

// creationGroup is a number of creations in one namespace.
type creationGroup struct {
	running int
	// done is closed when no creation of the group is running. It is nil without a waiter.
	done chan struct{}
}

// begin counts a creation until the returned function is called.
func (c *creations) begin(namespace string) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	group := c.running[namespace]
	if group == nil {
		group = &creationGroup{}
		if c.running == nil {
			c.running = map[string]*creationGroup{}
		}
		c.running[namespace] = group
	}
	group.running++
	return func() { c.end(namespace, group) }
}

func (c *creations) end(namespace string, group *creationGroup) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if group.running--; group.running > 0 {
		return
	}
	if c.running[namespace] == group {
		delete(c.running, namespace)
	}
	if group.done != nil {
		close(group.done)
	}
}

// await waits for the creations in progress. Later ones form a new group.
func (c *creations) await(ctx context.Context, namespace string) error {
	c.mu.Lock()
	group := c.running[namespace]
	if group == nil {
		c.mu.Unlock()
		return nil
	}
	delete(c.running, namespace)
	group.done = make(chan struct{})
	c.mu.Unlock()
	select {
	case <-group.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// beginCreation counts a creation in a namespace until the returned function is called.
func (b *base) beginCreation(namespace string) (end func()) {
	if namespace == "" || !b.resource.Namespaced {
		return func() {}
	}
	return b.catalog.creations.begin(namespace)
}

// AwaitCreations waits until the creations in a namespace that were in progress at the call have
// ended, or returns the error of ctx. A creation that begins later sees the namespace as it is
// then. There may be one caller at a time for a namespace.
func (c *Catalog) AwaitCreations(ctx context.Context, namespace string) error {
	return c.creations.await(ctx, namespace)
}
