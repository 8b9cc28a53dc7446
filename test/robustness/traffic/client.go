package traffic

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/storage/storagetest/model"
)

// names of the objects of a resource. Few names make races frequent.
var names = []string{"a", "b", "c", "d", "e", "f"}

var colours = []string{"red", "green"}

// client reads and writes single objects through one server.
type client struct {
	id        int
	recorder  *Recorder
	resources map[string]resource
	random    *rand.Rand
	pause     time.Duration     // maximum between two operations
	known     map[string]Object // last version that the client has read or written
}

// run sends operations until ctx ends.
func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil {
		r := c.resources[Secrets]
		if c.random.IntN(10) < 4 {
			r = c.resources[Widgets]
		}
		c.step(ctx, r, names[c.random.IntN(len(names))])
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(c.random.Int64N(int64(c.pause) + 1))):
		}
	}
}

// step sends one operation. The weights keep most objects in existence.
func (c *client) step(ctx context.Context, r resource, name string) {
	known, exists := c.known[r.name()+name]
	switch n := c.random.IntN(100); {
	case !exists && n < 60:
		c.create(ctx, r, name)
	case !exists || n < 20:
		c.get(ctx, r, name)
	case n < 50:
		c.update(ctx, r, known)
	case n < 65:
		c.patch(ctx, r, name)
	case n < 80:
		c.apply(ctx, r, name)
	case n < 90 || known.Deleting:
		c.unfinalize(ctx, r, known)
	default:
		c.delete(ctx, r, known)
	}
}

// do sends an operation and records it.
func (c *client) do(ctx context.Context, r resource, o Operation, send func(context.Context) (Object, error)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	name := o.Written.Name
	o.Client, o.Key = c.id, key(r, name)
	o.Call = c.recorder.Tick()
	result, err := send(ctx)
	o.Outcome, o.Result = outcomeOf(err), result
	if err != nil {
		o.Saw, o.Err = sawBy(err, name, o.Base), err.Error()
	}
	c.recorder.Operation(o)
	c.learn(r, o)
}

// learn stores the version that the client bases later writes on.
func (c *client) learn(r resource, o Operation) {
	switch {
	case o.Outcome == OK && o.Verb != Delete && o.Result.Revision > 0:
		c.known[r.name()+o.Written.Name] = o.Result
	case o.Saw == model.SawNothing || o.Outcome == OK && o.Verb == Delete:
		delete(c.known, r.name()+o.Written.Name)
	case o.Saw != "": // a newer version exists
		c.get(context.Background(), r, o.Written.Name)
	}
}

func key(r resource, name string) string { return r.name() + "/" + name }

func (c *client) get(ctx context.Context, r resource, name string) {
	o := Operation{Verb: Get, Written: Object{Name: name}, Saw: model.SawVersion}
	var opts metav1.GetOptions
	if c.random.IntN(5) == 0 {
		o.Any, opts.ResourceVersion = true, "0"
	}
	c.do(ctx, r, o, func(ctx context.Context) (Object, error) { return r.get(ctx, name, opts) })
}

func (c *client) create(ctx context.Context, r resource, name string) {
	o := Operation{Verb: Create, Written: Object{
		Name: name, Value: c.recorder.newValue(), Colour: c.colour(), Finalized: c.random.IntN(3) == 0,
	}}
	c.do(ctx, r, o, func(ctx context.Context) (Object, error) { return r.create(ctx, o.Written) })
}

func (c *client) update(ctx context.Context, r resource, known Object) {
	next := known
	next.Value, next.Colour = c.recorder.newValue(), c.colour()
	c.replace(ctx, r, known, next)
}

// unfinalize removes the finalizer, or sets it on an object that is not being deleted.
func (c *client) unfinalize(ctx context.Context, r resource, known Object) {
	next := known
	next.Value, next.Finalized = c.recorder.newValue(), !known.Finalized && !known.Deleting
	c.replace(ctx, r, known, next)
}

func (c *client) replace(ctx context.Context, r resource, known, next Object) {
	o := Operation{Verb: Update, Base: known.Revision, BaseObject: known, Written: next}
	c.do(ctx, r, o, func(ctx context.Context) (Object, error) { return r.update(ctx, next) })
}

func (c *client) patch(ctx context.Context, r resource, name string) {
	o := Operation{Verb: Patch, Written: Object{Name: name, Value: c.recorder.newValue()}}
	c.do(ctx, r, o, func(ctx context.Context) (Object, error) { return r.patch(ctx, name, o.Written.Value) })
}

func (c *client) apply(ctx context.Context, r resource, name string) {
	o := Operation{Verb: Apply, Written: Object{Name: name, Value: c.recorder.newValue(), Colour: c.colour()}}
	c.do(ctx, r, o, func(ctx context.Context) (Object, error) {
		return r.apply(ctx, o.Written, fmt.Sprintf("client-%d", c.id))
	})
}

// delete deletes the version that the client has read. The precondition identifies the deletion in
// the history, because a response to a deletion has no revision.
func (c *client) delete(ctx context.Context, r resource, known Object) {
	o := Operation{Verb: Delete, Base: known.Revision, BaseObject: known, Written: Object{Name: known.Name}}
	uid, revision := types.UID(known.UID), fmt.Sprint(known.Revision)
	c.do(ctx, r, o, func(ctx context.Context) (Object, error) {
		opts := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &revision}}
		return Object{}, r.delete(ctx, known.Name, opts)
	})
}

func (c *client) colour() string { return colours[c.random.IntN(len(colours))] }
