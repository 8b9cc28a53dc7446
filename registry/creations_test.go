package registry

import (
	"context"
	"errors"
	"testing"
)

func TestAwaitCreations(t *testing.T) {
	var c creations
	inN := creationScope{namespace: "n"}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.await(ended, inN); err != nil {
		t.Errorf("without creations: %v", err)
	}
	first, second, other := c.begin(inN), c.begin(inN), c.begin(creationScope{namespace: "other"})
	defer other()
	first()
	done := make(chan error)
	go func() { done <- c.await(t.Context(), inN) }() // ends with the second creation
	for !sealed(&c, inN) {                            // until await has begun
		continue
	}
	later := c.begin(inN)
	if err := c.await(ended, inN); !errors.Is(err, context.Canceled) {
		t.Errorf("a second caller does not wait for the creation: %v", err)
	}
	select {
	case err := <-done:
		t.Fatalf("await returned during a creation: %v", err)
	default:
	}
	second()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := c.await(ended, inN); !errors.Is(err, context.Canceled) {
		t.Errorf("during a later creation: %v", err)
	}
	later()
	if len(c.running) != 1 {
		t.Errorf("groups are left: %v", c.running)
	}
}

// sealed reports whether a caller waits for all creations of a scope.
func sealed(c *creations, scope creationScope) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, group := range c.running[scope] {
		if group.done == nil {
			return false
		}
	}
	return true
}
