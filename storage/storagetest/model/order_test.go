package model

import (
	"errors"
	"testing"
)

func TestHistoryMustBeInOrder(t *testing.T) {
	if _, err := NewHistory([]Change{{Revision: 2, Key: "/r/a"}, {Revision: 2, Key: "/r/b"}}); err == nil {
		t.Error("two changes of one revision make a history")
	}
}

func TestCheckerHoldsOperationsAgainstTime(t *testing.T) {
	saw := func(call, ret int64, s Sight, revision int64) Glance {
		return Glance{Span: Span{call, ret}, Key: "/r/a", Saw: s, Revision: revision}
	}
	anyState := func(g Glance) Glance { g.Any = true; return g }
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
		{"reads one after the other", Log{Glances: []Glance{saw(1, 2, SawVersion, 10), saw(3, 4, SawVersion, 12)}}, nil},
		{"reads side by side may be swapped", Log{Glances: []Glance{saw(1, 4, SawVersion, 12), saw(2, 3, SawVersion, 10)}}, nil},
		{"a read of any state may be old", Log{Glances: []Glance{saw(1, 2, SawVersion, 12), anyState(saw(3, 4, SawVersion, 10))}}, nil},
		{"nothing is seen before and after", Log{Glances: []Glance{saw(1, 2, SawNothing, 0), saw(3, 4, SawAny, 0), saw(5, 6, SawNothing, 0)}}, nil},
		{"something else is seen", Log{Glances: []Glance{saw(1, 2, SawOther, 10)}}, nil},
		{"a write is read after it returned", Log{Writes: []Write{write(1, 2, 12)}, Glances: []Glance{saw(3, 4, SawVersion, 12)}}, nil},
		{"a write is read before it returned", Log{Writes: []Write{write(1, 4, 12)}, Glances: []Glance{saw(2, 3, SawVersion, 12)}}, nil},

		{"a read goes back", Log{Glances: []Glance{saw(1, 2, SawVersion, 12), saw(3, 4, SawVersion, 10)}}, ErrLinearizable},
		{"a version is read that never was", Log{Glances: []Glance{saw(1, 2, SawVersion, 11)}}, ErrLinearizable},
		{"a write is not read after it returned", Log{Writes: []Write{write(1, 2, 12)}, Glances: []Glance{saw(3, 4, SawVersion, 10)}}, ErrLinearizable},
		{"a write is read before it was called", Log{Writes: []Write{write(3, 4, 12)}, Glances: []Glance{saw(1, 2, SawVersion, 12)}}, ErrLinearizable},
		{"nothing is seen where something is", Log{Glances: []Glance{saw(1, 2, SawVersion, 12), saw(3, 4, SawNothing, 0), saw(5, 6, SawVersion, 13)}}, ErrLinearizable},
		{"a list goes back", Log{Lists: []List{list(1, 2, 12), list(3, 4, 11)}}, ErrLinearizable},
		{"a list of any state shows what is written later", Log{Lists: []List{{Span: Span{1, 2}, Revision: 12, Any: true}}, Writes: []Write{write(3, 4, 12)}}, ErrLinearizable},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := errors.Join(checkOrder(history(t), &c.log)...)
			if !errors.Is(err, c.want) {
				t.Errorf("the checker says %v, want %v", err, c.want)
			}
		})
	}
}

func TestCheckerAccountsForEveryWrite(t *testing.T) {
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
		{"all there", func(w []Write) []Write { return w }, nil},
		{"of unknown outcome and done", func(w []Write) []Write { w[4].Unknown, w[4].Revision = true, 0; return w }, nil},
		{"of unknown outcome and not done", func(w []Write) []Write { return append(w, Write{Key: "/r/a", Unknown: true}) }, nil},
		{"one that nobody made", func(w []Write) []Write { return w[1:] }, ErrExplained},
		{"one that two made", func(w []Write) []Write { return append(w, w[0]) }, ErrExplained},
		{"one that is not there", func(w []Write) []Write { return append(w, Write{Key: "/r/a", Revision: 15}) }, ErrAcknowledged},
		{"one that wrote something else", func(w []Write) []Write { w[0].Value = "9"; return w }, ErrAcknowledged},
		{"one made of an older state", func(w []Write) []Write { w[3].Base = 10; return w }, ErrNoLostUpdate},
		{"one made of nothing", func(w []Write) []Write { w[2].Base = 0; return w }, ErrNoLostUpdate},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := errors.Join(checkWrites(history(t), c.change(all()))...)
			if !errors.Is(err, c.want) {
				t.Errorf("the checker says %v, want %v", err, c.want)
			}
		})
	}
}

func TestCheckerHoldsListsAgainstTheState(t *testing.T) {
	a2 := Version{Key: "/r/a", Revision: 12, Object: Object{"2", "blue"}}
	b1 := Version{Key: "/r/b", Revision: 11, Object: Object{"1", "red"}}
	cases := []struct {
		name string
		list List
		want error
	}{
		{"the state", List{Selection: Selection{Scope: "/r/"}, Revision: 12, Versions: []Version{a2, b1}}, nil},
		{"the state of a colour", List{Selection: Selection{"/r/", "red"}, Revision: 12, Versions: []Version{b1}}, nil},
		{"nothing yet", List{Selection: Selection{Scope: "/r/"}, Revision: 9}, nil},
		{"one missing", List{Selection: Selection{Scope: "/r/"}, Revision: 12, Versions: []Version{b1}}, ErrSnapshot},
		{"one too many", List{Selection: Selection{"/r/", "red"}, Revision: 12, Versions: []Version{a2, b1}}, ErrSnapshot},
		{"another order", List{Selection: Selection{Scope: "/r/"}, Revision: 12, Versions: []Version{b1, a2}}, ErrSnapshot},
		{"another revision", List{Selection: Selection{Scope: "/r/"}, Revision: 13, Versions: []Version{a2, b1}}, ErrSnapshot},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := errors.Join(checkLists(history(t), []List{c.list})...)
			if !errors.Is(err, c.want) {
				t.Errorf("the checker says %v, want %v", err, c.want)
			}
		})
	}
}
