package verify

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/miniapi/miniapi/storage/storagetest/model"
	"github.com/miniapi/miniapi/test/robustness/traffic"
)

// searchTimeout is the time limit of the search for a linear order of one object.
const searchTimeout = 10 * time.Minute

// The kinds of steps that change an object. The other kinds are observations.
const (
	stepWrite  model.Visibility = "write"
	stepDelete model.Visibility = "delete"
)

// step is an operation on one object, for Porcupine.
type step struct {
	traffic.Operation
	kind model.Visibility
	// base is the revision of the version that the step replaces, 0 for none.
	base int64
	// revision is the revision of the step, or of the version that it has observed.
	revision int64
}

func stepOf(o traffic.Operation, deletes bool, base, revision int64) step {
	s := step{Operation: o, kind: stepWrite, base: base, revision: revision}
	if deletes {
		s.kind = stepDelete
	}
	return s
}

func (s step) changes() bool { return s.kind == stepWrite || s.kind == stepDelete }

// version is the state of an object: a register whose value is a resourceVersion.
type version struct {
	current int64 // 0: the object does not exist
	last    int64 // revision of the last change
}

// register is a register with compare-and-swap by resourceVersion.
var register = porcupine.Model{
	Init: func() any { return version{} },
	Step: func(state, input, _ any) (bool, any) { return state.(version).step(input.(step)) },
	DescribeOperation: func(input, _ any) string {
		s := input.(step)
		return fmt.Sprintf("%s %s base %d revision %d", s.Verb, s.kind, s.base, s.revision)
	},
}

// step returns whether a step is possible in this state, and the state after it.
func (v version) step(s step) (bool, version) {
	switch s.kind {
	case stepWrite:
		return s.base == v.current && s.revision > v.last, version{s.revision, s.revision}
	case stepDelete:
		return s.base == v.current && s.revision > v.last, version{0, s.revision}
	case model.SawVersion:
		return v.current == s.revision, v
	case model.SawOther:
		return v.current != 0 && v.current != s.revision, v
	case model.SawAny:
		return v.current != 0, v
	default:
		return v.current == 0, v
	}
}

// linearizable searches a linear order of the steps of each object.
func linearizable(steps []step) []error {
	byKey := map[string][]porcupine.Operation{}
	for _, s := range steps {
		byKey[s.Key] = append(byKey[s.Key], porcupine.Operation{ClientId: s.Client, Input: s, Call: s.Call, Return: s.Return})
	}
	var errs []error
	for key, operations := range byKey {
		switch porcupine.CheckOperationsTimeout(register, operations, searchTimeout) {
		case porcupine.Illegal:
			errs = append(errs, fmt.Errorf("%w: Porcupine finds no order of the operations on %s", model.ErrLinearizable, key))
		case porcupine.Unknown:
			errs = append(errs, fmt.Errorf("%w: Porcupine has not found an order of the operations on %s in %v", model.ErrLinearizable, key, searchTimeout))
		}
	}
	return errs
}
