package registry

import (
	"context"
	"errors"
	"testing"
)

func TestAwaitCreations(t *testing.T) {
	var c creations
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.await(ended, "n"); err != nil {
		t.Errorf("without creations: %v", err)
	}
	first, second, other := c.begin("n"), c.begin("n"), c.begin("other")
	defer other()
	done := make(chan error)
	first()
	go func() { done <- c.await(t.Context(), "n") }() // ends with the second creation
	for len(running(&c, "n")) > 0 {                   // until await has begun
		continue
	}
	later := c.begin("n")
	select {
	case err := <-done:
		t.Fatalf("await returned during a creation: %v", err)
	default:
	}
	second()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := c.await(ended, "n"); !errors.Is(err, context.Canceled) {
		t.Errorf("during a later creation: %v", err)
	}
	later()
	if len(c.running) != 1 {
		t.Errorf("groups are left: %v", c.running)
	}
}

// running returns the group of a namespace, as a list of at most one.
func running(c *creations, namespace string) []*creationGroup {
	c.mu.Lock()
	defer c.mu.Unlock()
	if group := c.running[namespace]; group != nil {
		return []*creationGroup{group}
	}
	return nil
}
