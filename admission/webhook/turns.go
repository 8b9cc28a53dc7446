package webhook

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// turns remember, from the first run of the mutating steps to the second, which
// webhooks are to be asked again: those that want to be and after which the
// object has changed.
type turns struct {
	// had are those that were asked since the last change and may be again, due
	// those that are to be.
	had, due map[*hook]bool
	// left is the object as the last run left it.
	left runtime.Object
}

// turnsOf returns those of a write. What other steps have changed since counts
// as a change.
func turnsOf(a *registry.Attributes) *turns {
	t, ok := a.Noted(mutatingStep).(*turns)
	if !ok {
		t = &turns{had: map[*hook]bool{}, due: map[*hook]bool{}}
		a.Note(mutatingStep, t)
	}
	if a.Again && !equality.Semantic.DeepEqual(t.left, a.Object) {
		t.changed()
	}
	return t
}

func (t *turns) changed() {
	for h := range t.had {
		t.due[h] = true
	}
	clear(t.had)
}

func (t *turns) end(a *registry.Attributes) {
	if a.Object != nil {
		t.left = a.Object.DeepCopyObject()
	}
}
