package e2e_test

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
)

// keyNames holds the names of the objects of a history.
var keyNames = [...]string{"a", "b", "c", "d"}

const keys = len(keyNames)

// verb is the kind of a request.
type verb string

const (
	verbCreate verb = "create"
	verbUpdate verb = "update"
	verbPatch  verb = "patch"
	verbDelete verb = "delete"
	verbGet    verb = "get"
	verbList   verb = "list"
	// verbEnd is not a request but marks the end of all responses.
	verbEnd verb = "end"
)

// input is a request.
type input struct {
	verb verb
	key  int
	// value and colour are written. No value is written twice.
	value, colour string
	// given is the precondition of a write; "" and 0 require nothing.
	given precondition
	// selected is the colour to list, "" for all.
	selected string
	limit    int64
}

type precondition struct {
	uid      string
	revision int64
}

// fate is the outcome of a request.
type fate string

const (
	done     fate = "done"
	unknown  fate = "unknown" // the client received no response
	notFound fate = "not found"
	exists   fate = "exists already"
	conflict fate = "conflict"
)

// output is the response to a request: the object that was read or written, or the listed objects
// and the revision of the list.
type output struct {
	outcome  fate
	object   object
	objects  objects
	revision int64
	// after is the revision of the write before this write, or of the last write that a list can
	// contain. It is redundant, but saves the checker most of its search.
	after int64
}

// object is one version of an object. The zero value stands for a missing object.
type object struct {
	value, colour, uid string
	revision           int64 // 0: written at an unknown revision
}

func (o object) exists() bool { return o.value != "" }

func (o object) meets(given precondition) bool {
	return (given.uid == "" || given.uid == o.uid) && (given.revision == 0 || given.revision == o.revision)
}

type objects [keys]object

// state is the known part of the state of the storage.
type state struct {
	objects objects
	// revision is a lower bound of the revision. All later writes have a higher one.
	revision int64
	// wrote is the revision of the last write with a known revision.
	wrote int64
	// over is set after the last response.
	over bool
}

// consistent is the model of a storage that handles one request after the other.
var consistent = porcupine.Model{
	Init: func() any { return state{} },
	Step: func(before, in, out any) (bool, any) { return before.(state).step(in.(input), out.(output)) },
	DescribeOperation: func(in, out any) string {
		return fmt.Sprintf("%s: %s", in.(input), out.(output))
	},
	DescribeState: func(of any) string {
		return fmt.Sprintf("%s at %d", of.(state).objects, of.(state).revision)
	},
}

// step returns whether the response is possible in this state, and the state after the request.
func (s state) step(in input, out output) (bool, state) {
	switch {
	case s.over: // it may never be done
		return out.outcome == unknown, s
	case in.verb == verbEnd:
		s.over = true
		return true, s
	case in.verb == verbGet:
		return s.get(in, out), s
	case in.verb == verbList:
		return s.list(in, out)
	}
	current := s.objects[in.key]
	refused := current.refuses(in)
	switch {
	case refused != "" || out.outcome != done && out.outcome != unknown:
		return out.outcome == refused, s
	case in.verb == verbDelete:
		return true, s.write(in.key, object{}, s.revision+1) // or a later revision, which the response does not contain
	case out.outcome == unknown && out.object.revision == 0:
		// No request saw the object, so the outcomes are equivalent.
		return true, s.write(in.key, object{value: in.value, colour: in.colour, uid: current.uid}, s.revision+1)
	case in.verb != verbCreate && out.object.uid != current.uid && current.uid != "":
		return false, s
	}
	written := out.object
	ok := written.value == in.value && written.colour == in.colour && written.revision > s.revision && out.after == s.wrote
	s.wrote = written.revision
	return ok, s.write(in.key, written, written.revision)
}

// refuses returns the reason for which a write fails, "" if it succeeds.
func (o object) refuses(in input) fate {
	switch {
	case in.verb == verbCreate && o.exists():
		return exists
	case in.verb == verbCreate:
		return ""
	case !o.exists():
		return notFound
	case !o.meets(in.given):
		return conflict
	}
	return ""
}

func (s state) write(key int, written object, revision int64) state {
	s.objects[key] = written
	s.revision = revision
	return s
}

func (s state) get(in input, out output) bool {
	current := s.objects[in.key]
	if !current.exists() {
		return out.outcome == notFound
	}
	return out.outcome == done && out.object == current
}

func (s state) list(in input, out output) (bool, state) {
	for key, current := range s.objects {
		if in.selected != "" && current.colour != in.selected {
			current = object{}
		}
		if out.objects[key] != current {
			return false, s
		}
	}
	if out.revision < s.revision || out.after != s.wrote {
		return false, s
	}
	s.revision = out.revision
	return true, s
}

func (in input) String() string {
	words := []string{string(in.verb)}
	if in.verb != verbList {
		words = append(words, keyNames[in.key])
	}
	if in.value != "" {
		words = append(words, in.colour+" "+in.value)
	}
	if in.given != (precondition{}) {
		words = append(words, fmt.Sprintf("if %s@%d", in.given.uid, in.given.revision))
	}
	if in.selected != "" {
		words = append(words, in.selected)
	}
	if in.limit > 0 {
		words = append(words, fmt.Sprintf("by %d", in.limit))
	}
	return strings.Join(words, " ")
}

func (out output) String() string {
	switch {
	case out.outcome != done:
		return string(out.outcome)
	case out.object.exists():
		return out.object.String()
	case out.revision > 0:
		return fmt.Sprintf("%s at %d", out.objects, out.revision)
	}
	return string(done)
}

func (o object) String() string {
	if !o.exists() {
		return "-"
	}
	return fmt.Sprintf("%s %s@%d", o.colour, o.value, o.revision)
}
