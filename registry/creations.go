package registry

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// creations counts the creations in progress in each scope.
type creations struct {
	mu sync.Mutex // guards all below
	// running holds the groups of each scope in the order of their beginning. The last one may be
	// open.
	running map[creationScope][]*creationGroup
}

// creationScope is a namespace or a custom resource. The other field is empty.
type creationScope struct {
	namespace string
	resource  schema.GroupResource
}

// creationGroup is a number of creations in one scope.
type creationGroup struct {
	running int
	// done is closed when no creation of the group is running. It is nil while the group is open:
	// without a waiter.
	done chan struct{}
}

// begin counts a creation until the returned function is called.
func (c *creations) begin(scope creationScope) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	group := c.open(scope)
	group.running++
	return func() { c.end(scope, group) }
}

// open returns the open group of a scope. The caller holds mu.
func (c *creations) open(scope creationScope) *creationGroup {
	groups := c.running[scope]
	if n := len(groups); n > 0 && groups[n-1].done == nil {
		return groups[n-1]
	}
	group := &creationGroup{}
	if c.running == nil {
		c.running = map[creationScope][]*creationGroup{}
	}
	c.running[scope] = append(groups, group)
	return group
}

func (c *creations) end(scope creationScope, group *creationGroup) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if group.running--; group.running > 0 {
		return
	}
	groups := slices.DeleteFunc(c.running[scope], func(g *creationGroup) bool { return g == group })
	if c.running[scope] = groups; len(groups) == 0 {
		delete(c.running, scope)
	}
	if group.done != nil {
		close(group.done)
	}
}

// await waits for the creations in progress. Later ones form a new group.
func (c *creations) await(ctx context.Context, scope creationScope) error {
	for _, done := range c.seal(scope) {
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// seal ends the additions to the groups of a scope, and returns channels that are closed at
// the end of the groups.
func (c *creations) seal(scope creationScope) []<-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ends []<-chan struct{}
	for _, group := range c.running[scope] {
		if group.done == nil {
			group.done = make(chan struct{})
		}
		ends = append(ends, group.done)
	}
	return ends
}

// beginCreation counts a creation in a namespace until the returned function is called.
func (b *base) beginCreation(namespace string) (end func()) {
	var scopes []creationScope
	if namespace != "" && b.resource.Namespaced {
		scopes = append(scopes, creationScope{namespace: namespace})
	}
	if b.resource.Custom {
		scopes = append(scopes, creationScope{resource: b.resource.GroupResource()})
	}
	ends := make([]func(), len(scopes))
	for i, scope := range scopes {
		ends[i] = b.catalog.creations.begin(scope)
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// AwaitCreations waits until the creations in a namespace that were in progress at the call have
// ended, or returns the error of ctx. A creation that begins later sees the namespace as it is
// then.
func (c *Catalog) AwaitCreations(ctx context.Context, namespace string) error {
	return c.creations.await(ctx, creationScope{namespace: namespace})
}

// AwaitCreationsOf waits until the creations of a custom resource that were in progress at the call
// have ended, or returns the error of ctx. A creation that begins later sees the catalog as it is
// then.
func (c *Catalog) AwaitCreationsOf(ctx context.Context, resource schema.GroupResource) error {
	return c.creations.await(ctx, creationScope{resource: resource})
}
