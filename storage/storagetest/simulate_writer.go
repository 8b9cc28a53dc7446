package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/storagetest/model"
)

// writer makes all kinds of writes.
type writer struct {
	*simulator
	random *rand.Rand
	// known holds, for each key, an entry that this writer has received, current or stale. The
	// writer uses it for suggestions and preconditions.
	known map[string]*storage.Entry
}

func (c *writer) run(ctx context.Context) {
	actions := []func(context.Context, string, string){
		c.create, c.create,
		c.update, c.update, c.update, c.update,
		c.upsert, c.upsert,
		c.updateKnown, c.suggest, c.suggest,
		c.leaveUnchanged,
		c.remove, c.removeKnown,
	}
	for c.takeWrite(ctx) {
		if c.random.IntN(500) == 0 {
			c.compact(ctx, c.random)
		}
		if c.Disturb != nil && c.random.IntN(50) == 0 {
			c.Disturb(c.random)
		}
		pick(c.random, actions)(ctx, pick(c.random, c.namespaces()), pick(c.random, c.names()))
	}
}

// finish writes a last version of every key, which all watchers must receive.
func (c *writer) finish(ctx context.Context) {
	for _, ns := range c.namespaces() {
		for _, name := range c.names() {
			c.end(ctx, ns, name)
		}
	}
}

// end retries until a write is acknowledged.
func (c *writer) end(ctx context.Context, namespace, name string) {
	for ctx.Err() == nil {
		a := c.attempt(namespace, name)
		a.object.Colour = "red"
		result, err := c.Store.GuaranteedUpdate(ctx, a.key, a.propose(c.kind), storage.UpdateOptions{CreateIfAbsent: true})
		c.updated(ctx, a, result, err)
		if err == nil {
			c.ends[a.key] = result.Entry.Revision
			return
		}
	}
}

func (c *writer) value() string { return fmt.Sprintf("v%d", c.values.Add(1)) }

// attempt is one write in progress.
type attempt struct {
	namespace, name, key string
	object               model.Object
	base                 int64 // revision on which the last proposal is based
	receipt              bool
	span                 func() model.Span
}

func (c *writer) attempt(namespace, name string) *attempt {
	return &attempt{
		namespace: namespace, name: name, key: c.kind.Key(namespace, name),
		object:  model.Object{Value: c.value(), Colour: pick(c.random, c.colours())},
		receipt: c.random.IntN(2) == 0,
		span:    c.span(),
	}
}

func (a *attempt) make(kind Kind) Object {
	obj := kind.New(a.namespace, a.name, a.object.Value)
	paint(obj, a.object.Colour)
	return obj
}

// propose returns a propose function that sets the value and the colour of the attempt.
func (a *attempt) propose(kind Kind) storage.ProposeFunc {
	return func(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
		a.see(current)
		if current == nil {
			return storage.Proposal{Object: a.make(kind), Receipt: a.receipt}, nil
		}
		proposal, err := change(func(obj Object) {
			setValue(obj, a.object.Value)
			paint(obj, a.object.Colour)
		})(ctx, current)
		proposal.Receipt = a.receipt
		return proposal, err
	}
}

// see records the entry that the proposal is based on.
func (a *attempt) see(current *storage.Entry) {
	a.base = 0
	if current != nil {
		a.base = current.Revision
	}
}

func (c *writer) create(ctx context.Context, namespace, name string) {
	a := c.attempt(namespace, name)
	entry, err := c.Store.Create(ctx, a.key, a.make(c.kind), storage.CreateOptions{})
	if err != nil {
		c.rejected(ctx, a, err, false)
		return
	}
	c.wrote(a, entry, false)
}

func (c *writer) update(ctx context.Context, namespace, name string) {
	c.updateWith(ctx, namespace, name, storage.UpdateOptions{})
}

func (c *writer) upsert(ctx context.Context, namespace, name string) {
	c.updateWith(ctx, namespace, name, storage.UpdateOptions{CreateIfAbsent: true})
}

// suggest updates with the last known entry as the suggestion, which may be stale.
func (c *writer) suggest(ctx context.Context, namespace, name string) {
	c.updateWith(ctx, namespace, name, storage.UpdateOptions{Suggestion: c.known[c.kind.Key(namespace, name)]})
}

func (c *writer) updateWith(ctx context.Context, namespace, name string, opts storage.UpdateOptions) {
	a := c.attempt(namespace, name)
	result, err := c.Store.GuaranteedUpdate(ctx, a.key, a.propose(c.kind), opts)
	c.updated(ctx, a, result, err)
}

// updateKnown updates an object under the precondition that it has not changed since the writer
// received it.
func (c *writer) updateKnown(ctx context.Context, namespace, name string) {
	a := c.attempt(namespace, name)
	known := c.known[a.key]
	if known == nil {
		return
	}
	result, err := c.Store.GuaranteedUpdate(ctx, a.key, a.propose(c.kind),
		storage.UpdateOptions{Preconditions: ifVersion(version(known.Revision))})
	if errors.Is(err, storage.ErrPrecondition) {
		c.observe(model.Observation{Span: a.span(), Key: a.key, Saw: model.SawOther, Revision: known.Revision})
		delete(c.known, a.key)
		return
	}
	c.updated(ctx, a, result, err)
}

// leaveUnchanged proposes the current object, or the entry that the writer considers current.
func (c *writer) leaveUnchanged(ctx context.Context, namespace, name string) {
	a := c.attempt(namespace, name)
	result, err := c.Store.GuaranteedUpdate(ctx, a.key, change(func(Object) {}),
		storage.UpdateOptions{Suggestion: c.known[a.key]})
	if err != nil {
		c.rejected(ctx, a, err, false)
		return
	}
	if result.Outcome != storage.Unchanged {
		c.violation(fmt.Errorf("%w: an unchanged proposal for %s wrote revision %d",
			model.ErrExplained, a.key, result.Entry.Revision))
	}
	c.observe(model.Observation{Span: a.span(), Key: a.key, Saw: model.SawVersion, Revision: result.Entry.Revision})
}

func (c *writer) remove(ctx context.Context, namespace, name string) {
	c.removeWith(ctx, namespace, name, storage.UpdateOptions{})
}

func (c *writer) removeKnown(ctx context.Context, namespace, name string) {
	c.removeWith(ctx, namespace, name, storage.UpdateOptions{Suggestion: c.known[c.kind.Key(namespace, name)]})
}

func (c *writer) removeWith(ctx context.Context, namespace, name string, opts storage.UpdateOptions) {
	a := c.attempt(namespace, name)
	result, err := c.Store.GuaranteedUpdate(ctx, a.key, func(_ context.Context, current *storage.Entry) (storage.Proposal, error) {
		a.see(current)
		return storage.Proposal{Delete: true, Receipt: a.receipt}, nil
	}, opts)
	if err != nil {
		c.rejected(ctx, a, err, true)
		return
	}
	c.wrote(a, result.Entry, true)
}
