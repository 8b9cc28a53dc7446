package e2e_test

import (
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
)

// TestLinearizabilityChecker checks that the checker accepts correct and rejects incorrect
// histories, written by hand.
func TestLinearizabilityChecker(t *testing.T) {
	one, two := version("1", "red", 5), version("2", "blue", 7)
	created := does(write(verbCreate, one), wrote(one))
	updated := does(write(verbUpdate, two), wrote(two))
	for _, test := range []struct {
		rule string
		// sequential requests unless from is used
		history []porcupine.Operation
		right   bool
	}{
		{"a get reads what was written last", story(created, updated, does(get, wrote(two))), true},
		{"a get reads nothing stale", story(created, updated, does(get, wrote(one))), false},
		{"a get finds what was created", story(created, does(get, is(notFound))), false},
		{"a get finds nothing that was deleted", story(created, does(remove, is(done)), does(get, wrote(one))), false},
		{"a get reads another object than was deleted", story(created, does(remove, is(done)), does(get, is(notFound))), true},
		{"a get during a write reads the one or the other", story(created, updated, from(2, does(get, wrote(one)))), true},
		{"once seen, a write stays seen", story(created, updated, from(2, does(get, wrote(two))), from(3, does(get, wrote(one)))), false},

		{"a list is of one revision", story(created, updated, does(list, listed(7, two))), true},
		{"a list is not stale", story(created, updated, does(list, listed(5, one))), false},
		{"a list is not older than what it has", story(created, updated, does(list, listed(6, two))), false},
		{"lists do not go back", story(created, does(list, listed(9, one)), does(list, listed(8, one))), false},
		{"a list forbids later writes before it", story(created, does(list, listed(9, one)), updated), false},
		{"a list by label has what is labelled", story(created, does(listRed, listed(5, one))), true},
		{"a list by label lacks nothing", story(created, does(listRed, listed(5))), false},
		{"a list by label has nothing else", story(created, updated, does(listRed, listed(7, two))), false},

		{"revisions increase", story(created, does(write(verbUpdate, two), wrote(version("2", "blue", 5)))), false},
		{"a deletion has a revision", story(created, does(remove, is(done)), does(write(verbCreate, two), wrote(version("2", "blue", 6)))), false},
		{"an update of the latest version is done", story(created, does(when(5, write(verbUpdate, two)), wrote(two))), true},
		{"an update of the latest version does not conflict", story(created, does(when(5, write(verbUpdate, two)), is(conflict))), false},
		{"an update of another version conflicts", story(created, does(when(4, write(verbUpdate, two)), is(conflict))), true},
		{"an update of another version is not done", story(created, does(when(4, write(verbPatch, two)), wrote(two))), false},
		{"a delete of another version is not done", story(created, does(when(4, remove), is(done))), false},
		{"an update does not conflict by itself", story(created, does(write(verbUpdate, two), is(conflict))), false},
		{"an update keeps the uid", story(created, does(write(verbUpdate, two), wrote(object{"2", "blue", "other", 7}))), false},
		{"nothing is created twice", story(created, does(write(verbCreate, two), wrote(two))), false},
		{"nothing exists before it was created", story(does(write(verbCreate, two), is(exists))), false},
		{"nothing is updated before it was created", story(updated), false},

		{"what nobody waited for may never be done", story(created, does(write(verbUpdate, two), is(unknown)), does(get, wrote(one))), true},
		{"what nobody waited for may be done late", story(created, does(write(verbUpdate, two), is(unknown)), does(get, wrote(one)), does(get, wrote(two))), true},
		{"what nobody waited for is done once", story(created, does(write(verbUpdate, two), is(unknown)), does(get, wrote(two)), does(get, wrote(one))), false},
		{"a deletion nobody waited for may be done", story(created, does(remove, is(unknown)), does(get, is(notFound))), true},
		{"what nobody waited for is not done before", story(created, does(get, wrote(two)), does(write(verbUpdate, two), is(unknown))), false},
	} {
		t.Run(test.rule, func(t *testing.T) {
			if right := porcupine.CheckOperations(consistent, test.history); right != test.right {
				t.Errorf("linearizable %v, want %v", right, test.right)
			}
		})
	}
}

var (
	get     = input{verb: verbGet}
	list    = input{verb: verbList}
	listRed = input{verb: verbList, selected: "red"}
	remove  = input{verb: verbDelete}
)

func version(value, colour string, revision int64) object {
	return object{value: value, colour: colour, uid: "uid", revision: revision}
}

func write(verb verb, o object) input { return input{verb: verb, value: o.value, colour: o.colour} }

func when(revision int64, in input) input {
	in.given.revision = revision
	return in
}

func is(outcome fate) output { return output{outcome: outcome} }

func wrote(o object) output { return output{outcome: done, object: o} }

// listed returns the response to a list that contains only versions of the first key.
func listed(revision int64, versions ...object) output {
	out := output{outcome: done, revision: revision}
	copy(out.objects[:], versions)
	return out
}

func does(in input, out output) porcupine.Operation {
	return porcupine.Operation{Input: in, Output: out}
}

// from returns the request with the start time of the request at a place, counted from 1.
func from(place int64, operation porcupine.Operation) porcupine.Operation {
	operation.Call = 10 * place
	return operation
}

// story returns a history of sequential requests.
func story(operations ...porcupine.Operation) []porcupine.Operation {
	operations = slices.Clone(operations)
	for i := range operations {
		begin := 10 * int64(i+1)
		if operations[i].Call == 0 {
			operations[i].Call = begin
		}
		operations[i].Return = begin + 9
	}
	return closed(operations)
}
