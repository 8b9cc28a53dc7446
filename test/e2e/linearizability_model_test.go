package e2e_test

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
)

// keyNames are the objects that a history is about.
var keyNames = [...]string{"a", "b", "c", "d"}

const keys = len(keyNames)

// verb is what a client did.
type verb string

const (
	verbCreate verb = "create"
	verbUpdate verb = "update"
	verbPatch  verb = "patch"
	verbDelete verb = "delete"
	verbGet    verb = "get"
	verbList   verb = "list"
	// verbEnd is no request, but the end of all answers.
	verbEnd verb = "end"
)

// input is a request.
type input struct {
	verb verb
	key  int
	// value and colour are what to write. No value is written twice.
	value, colour string
	// given is what a write requires of what is there; "" and 0 require nothing.
	given precondition
	// selected is the colour to list; "": all are.
	selected string
	limit    int64
}

type precondition struct {
	uid      string
	revision int64
}

// fate is what became of a request.
type fate string

const (
	done     fate = "done"
	unknown  fate = "unknown" // the client did not wait for the answer
	notFound fate = "not found"
	exists   fate = "exists already"
	conflict fate = "conflict"
)

// output is the answer to a request that was done: the object that was read or
// written, or all that were listed, and the revision of the list.
type output struct {
	outcome  fate
	object   object
	objects  objects
	revision int64
	// after is the revision of the write before that of a write, or the last one
	// that a list can have seen. It says nothing new, but saves the checker most
	// of its search.
	after int64
}

// object is one version of an object. The zero value: there is none.
type object struct {
	value, colour, uid string
	revision           int64 // 0: it was written, and nobody knows when
}

func (o object) exists() bool { return o.value != "" }

func (o object) meets(given precondition) bool {
	return (given.uid == "" || given.uid == o.uid) && (given.revision == 0 || given.revision == o.revision)
}

type objects [keys]object

// state is that of the whole storage, as far as it is known.
type state struct {
	objects objects
	// revision that it is not older than. All later writes are after it.
	revision int64
	// wrote is the revision of the last write of which that is known.
	wrote int64
	// over: no more answers will come.
	over bool
}

// consistent is what a storage does that handles one request after the other.
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

// step returns the state after a request, and whether that is how it may have
// been answered.
func (s state) step(in input, out output) (bool, state) {
	switch {
	case s.over: // it may as well not have been done
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
		return true, s.write(in.key, object{}, s.revision+1) // or later: the answer does not tell
	case out.outcome == unknown && out.object.revision == 0:
		// Nobody saw it, so that it cannot be told apart.
		return true, s.write(in.key, object{value: in.value, colour: in.colour, uid: current.uid}, s.revision+1)
	case in.verb != verbCreate && out.object.uid != current.uid && current.uid != "":
		return false, s
	}
	written := out.object
	ok := written.value == in.value && written.colour == in.colour && written.revision > s.revision && out.after == s.wrote
	s.wrote = written.revision
	return ok, s.write(in.key, written, written.revision)
}

// refuses returns why a write cannot be done, "" if it can.
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
