// Package reinvocation tells who has another turn in the second run of the mutating
// steps of admission: those who want to and after whose last turn the object
// has changed.
package reinvocation

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// Turns are those of one step with one write. They last from its first run to
// its second, and name who has them as the step likes.
type Turns struct {
	attributes *registry.Attributes
	// had are those since the last change, due those to be had again.
	had, due map[string]bool
	// left is the object as the step left it.
	left runtime.Object
}

// Begin returns the turns of a step at the beginning of a run. What other steps
// have changed since its last is a change.
func Begin(step string, attributes *registry.Attributes) *Turns {
	t, ok := attributes.Noted(step).(*Turns)
	if !ok {
		t = &Turns{attributes: attributes, had: map[string]bool{}, due: map[string]bool{}}
		attributes.Note(step, t)
	}
	if attributes.Again && !equality.Semantic.DeepEqual(t.left, attributes.Object) {
		t.change()
	}
	return t
}

// Due tells whether somebody has a turn in this run.
func (t *Turns) Due(who string) bool { return !t.attributes.Again || t.due[who] }

// Had notes the turn of somebody who wants another one if others change
// something.
func (t *Turns) Had(who string) { t.had[who] = true }

// Changed notes that the object is another one now: there is to be a second run.
func (t *Turns) Changed() {
	t.change()
	t.attributes.RunAgain()
}

func (t *Turns) change() {
	for who := range t.had {
		t.due[who] = true
	}
	clear(t.had)
}

// End is called at the end of a run.
func (t *Turns) End() {
	if t.attributes.Object != nil {
		t.left = t.attributes.Object.DeepCopyObject()
	}
}
