package model

import (
	"errors"
	"testing"
)

func TestNewHistoryRejectsUnorderedChanges(t *testing.T) {
	if _, err := NewHistory([]Change{{Revision: 2, Key: "/r/a"}, {Revision: 2, Key: "/r/b"}}); err == nil {
		t.Error("NewHistory accepts two changes with one revision")
	}
}

func TestCheckOrder(t *testing.T) {
	saw := func(call, ret int64, s Visibility, revision int64) Observation {
		return Observation{Span: Span{call, ret}, Key: "/r/a", Saw: s, Revision: revision}
	}
	anyState := func(g Observation) Observation { g.Any = true; return g }
	list := func(call, ret, revision int64) List {
		return List{Span: Span{call, ret}, Selection: Selection{Scope: "/r/"}, Revision: revision}
	}
	write := func(call, ret, revision int64) Write {
		return Write{Span: Span{call, ret}, Key: "/r/a", Revision: revision}
	}
	cases := []struct {
		name string
		log  Log
		want error
	}{
		{"sequential reads", Log{Observations: []Observation{saw(1, 2, SawVersion, 10), saw(3, 4, SawVersion, 12)}}, nil},
		{"concurrent reads may be swapped", Log{Observations: []Observation{saw(1, 4, SawVersion, 12), saw(2, 3, SawVersion, 10)}}, nil},
		{"a read of any state may be old", Log{Observations: []Observation{saw(1, 2, SawVersion, 12), anyState(saw(3, 4, SawVersion, 10))}}, nil},
		{"no object before the create and after the delete", Log{Observations: []Observation{saw(1, 2, SawNothing, 0), saw(3, 4, SawAny, 0), saw(5, 6, SawNothing, 0)}}, nil},
		{"another version is observed", Log{Observations: []Observation{saw(1, 2, SawOther, 10)}}, nil},
		{"a write is read after it returned", Log{Writes: []Write{write(1, 2, 12)}, Observations: []Observation{saw(3, 4, SawVersion, 12)}}, nil},
		{"a write is read before it returned", Log{Writes: []Write{write(1, 4, 12)}, Observations: []Observation{saw(2, 3, SawVersion, 12)}}, nil},

		{"a read goes back in time", Log{Observations: []Observation{saw(1, 2, SawVersion, 12), saw(3, 4, SawVersion, 10)}}, ErrLinearizable},
		{"a version that never existed is read", Log{Observations: []Observation{saw(1, 2, SawVersion, 11)}}, ErrLinearizable},
		{"a write is not read after it returned", Log{Writes: []Write{write(1, 2, 12)}, Observations: []Observation{saw(3, 4, SawVersion, 10)}}, ErrLinearizable},
		{"a write is read before it was called", Log{Writes: []Write{write(3, 4, 12)}, Observations: []Observation{saw(1, 2, SawVersion, 12)}}, ErrLinearizable},
		{"no object is observed while it exists", Log{Observations: []Observation{saw(1, 2, SawVersion, 12), saw(3, 4, SawNothing, 0), saw(5, 6, SawVersion, 13)}}, ErrLinearizable},
		{"a list goes back in time", Log{Lists: []List{list(1, 2, 12), list(3, 4, 11)}}, ErrLinearizable},
		{"a list of any state shows a later write", Log{Lists: []List{{Span: Span{1, 2}, Revision: 12, Any: true}}, Writes: []Write{write(3, 4, 12)}}, ErrLinearizable},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := errors.Join(checkOrder(history(t), &c.log)...)
			if !errors.Is(err, c.want) {
				t.Errorf("Check returns %v, want %v", err, c.want)
			}
		})
	}
}

func TestCheckWrites(t *testing.T) {
	all := func() []Write {
		return []Write{
			{Key: "/r/a", Revision: 10, Object: Object{"1", "red"}},
			{Key: "/r/b", Revision: 11, Object: Object{"1", "red"}},
			{Key: "/r/a", Revision: 12, Object: Object{"2", "blue"}, Base: 10},
			{Key: "/r/a", Revision: 13, Object: Object{"3", "red"}, Base: 12},
			{Key: "/r/a", Revision: 14, Deleted: true, Base: 13},
		}
	}
	cases := []struct {
		name   string
		change func(writes []Write) []Write
		want   error
	}{
		{"all writes", func(w []Write) []Write { return w }, nil},
		{"unknown outcome, happened", func(w []Write) []Write { w[4].Unknown, w[4].Revision = true, 0; return w }, nil},
		{"unknown outcome, did not happen", func(w []Write) []Write { return append(w, Write{Key: "/r/a", Unknown: true}) }, nil},
		{"a change without a write", func(w []Write) []Write { return w[1:] }, ErrExplained},
		{"a change with two writes", func(w []Write) []Write { return append(w, w[0]) }, ErrExplained},
		{"a write that is not in the history", func(w []Write) []Write { return append(w, Write{Key: "/r/a", Revision: 15}) }, ErrAcknowledged},
		{"a write of another value", func(w []Write) []Write { w[0].Value = "9"; return w }, ErrAcknowledged},
		{"a write based on an older state", func(w []Write) []Write { w[3].Base = 10; return w }, ErrNoLostUpdate},
		{"a write based on no state", func(w []Write) []Write { w[2].Base = 0; return w }, ErrNoLostUpdate},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := errors.Join(checkWrites(history(t), c.change(all()))...)
			if !errors.Is(err, c.want) {
				t.Errorf("Check returns %v, want %v", err, c.want)
			}
		})
	}
}

func TestCheckLists(t *testing.T) {
	a2 := Version{Key: "/r/a", Revision: 12, Object: Object{"2", "blue"}}
	b1 := Version{Key: "/r/b", Revision: 11, Object: Object{"1", "red"}}
	cases := []struct {
		name string
		list List
		want error
	}{
		{"the state", List{Selection: Selection{Scope: "/r/"}, Revision: 12, Versions: []Version{a2, b1}}, nil},
		{"the state of a colour", List{Selection: Selection{"/r/", "red"}, Revision: 12, Versions: []Version{b1}}, nil},
		{"an empty state", List{Selection: Selection{Scope: "/r/"}, Revision: 9}, nil},
		{"a missing object", List{Selection: Selection{Scope: "/r/"}, Revision: 12, Versions: []Version{b1}}, ErrSnapshot},
		{"an additional object", List{Selection: Selection{"/r/", "red"}, Revision: 12, Versions: []Version{a2, b1}}, ErrSnapshot},
		{"another order", List{Selection: Selection{Scope: "/r/"}, Revision: 12, Versions: []Version{b1, a2}}, ErrSnapshot},
		{"another revision", List{Selection: Selection{Scope: "/r/"}, Revision: 13, Versions: []Version{a2, b1}}, ErrSnapshot},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := errors.Join(checkLists(history(t), []List{c.list})...)
			if !errors.Is(err, c.want) {
				t.Errorf("Check returns %v, want %v", err, c.want)
			}
		})
	}
}
