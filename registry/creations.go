package registry

import (
	"context"
	"slices"
	"sync"
)

// creations counts the creations in progress in each namespace.
type creations struct {
	mu sync.Mutex // guards all below
	// running holds the groups of each namespace in the order of their beginning. The last one may
	// be open.
	running map[string][]*creationGroup
}

// creationGroup is a number of creations in one namespace.
type creationGroup struct {
	running int
	// done is closed when no creation of the group is running. It is nil while the group is open:
	// without a waiter.
	done chan struct{}
}

// begin counts a creation until the returned function is called.
func (c *creations) begin(namespace string) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	group := c.open(namespace)
	group.running++
	return func() { c.end(namespace, group) }
}

// open returns the open group of a namespace. The caller holds mu.
func (c *creations) open(namespace string) *creationGroup {
	groups := c.running[namespace]
	if n := len(groups); n > 0 && groups[n-1].done == nil {
		return groups[n-1]
	}
	group := &creationGroup{}
	if c.running == nil {
		c.running = map[string][]*creationGroup{}
	}
	c.running[namespace] = append(groups, group)
	return group
}

func (c *creations) end(namespace string, group *creationGroup) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if group.running--; group.running > 0 {
		return
	}
	groups := slices.DeleteFunc(c.running[namespace], func(g *creationGroup) bool { return g == group })
	if c.running[namespace] = groups; len(groups) == 0 {
		delete(c.running, namespace)
	}
	if group.done != nil {
		close(group.done)
	}
}

// await waits for the creations in progress. Later ones form a new group.
func (c *creations) await(ctx context.Context, namespace string) error {
	for _, done := range c.seal(namespace) {
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// seal ends the additions to the groups of a namespace, and returns channels that are closed at
// the end of the groups.
func (c *creations) seal(namespace string) []<-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ends []<-chan struct{}
	for _, group := range c.running[namespace] {
		if group.done == nil {
			group.done = make(chan struct{})
		}
		ends = append(ends, group.done)
	}
	return ends
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
// then.
func (c *Catalog) AwaitCreations(ctx context.Context, namespace string) error {
	return c.creations.await(ctx, namespace)
}
