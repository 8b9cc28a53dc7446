// Package reinvocation implements the reinvocation policy of mutating webhooks and policies: it
// decides which of them run again in the second run of the mutating admission steps.
//
// A webhook or policy with reinvocation policy IfNeeded is reinvoked if the object has changed
// since its last invocation.
package reinvocation

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// Context is the state of one admission step during one write. It is kept from the first run of
// the step to the second. It identifies webhooks or policies by strings that the step chooses.
type Context struct {
	attributes *registry.Attributes
	// invoked holds the reinvocable ids invoked since the last change of the object, reinvoke
	// the ids to invoke in the second run.
	invoked, reinvoke map[string]bool
	// output is the object at the end of the last run.
	output runtime.Object
}

// Begin returns the context of a step at the beginning of a run. If other steps changed the
// object since the last run, the invoked ids are reinvoked. The caller must call End.
func Begin(step string, attributes *registry.Attributes) *Context {
	c, ok := attributes.State(step).(*Context)
	if !ok {
		c = &Context{attributes: attributes, invoked: map[string]bool{}, reinvoke: map[string]bool{}}
		attributes.SetState(step, c)
	}
	if attributes.Reinvocation && !equality.Semantic.DeepEqual(c.output, attributes.Object) {
		c.requireReinvocation()
	}
	return c
}

// ShouldInvoke reports whether to invoke id in this run: in the first run always, in the second
// run if it must be reinvoked.
func (c *Context) ShouldInvoke(id string) bool { return !c.attributes.Reinvocation || c.reinvoke[id] }

// AddInvoked records the invocation of a reinvocable id.
func (c *Context) AddInvoked(id string) { c.invoked[id] = true }

// ObjectChanged records that the last invocation changed the object, and requests a second run
// of the mutating steps.
func (c *Context) ObjectChanged() {
	c.requireReinvocation()
	c.attributes.RequestReinvocation()
}

func (c *Context) requireReinvocation() {
	for id := range c.invoked {
		c.reinvoke[id] = true
	}
	clear(c.invoked)
}

// End saves the object at the end of a run.
func (c *Context) End() {
	if c.attributes.Object != nil {
		c.output = c.attributes.Object.DeepCopyObject()
	}
}
