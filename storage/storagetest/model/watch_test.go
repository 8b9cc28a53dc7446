package model

import (
	"errors"
	"testing"
)

// history returns the history of two keys: /r/a is created, changes its colour twice and is
// deleted; /r/b is created in between.
func history(t *testing.T) *History {
	t.Helper()
	h, err := NewHistory([]Change{
		{Revision: 10, Key: "/r/a", Object: Object{"1", "red"}},
		{Revision: 11, Key: "/r/b", Object: Object{"1", "red"}},
		{Revision: 12, Key: "/r/a", Object: Object{"2", "blue"}},
		{Revision: 13, Key: "/r/a", Object: Object{"3", "red"}},
		{Revision: 14, Key: "/r/a", Deleted: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestCheckWatch(t *testing.T) {
	all := Selection{Scope: "/r/"}
	a1 := Event{Type: Added, Key: "/r/a", Revision: 10, Object: Object{"1", "red"}}
	b1 := Event{Type: Added, Key: "/r/b", Revision: 11, Object: Object{"1", "red"}}
	a2 := Event{Type: Modified, Key: "/r/a", Revision: 12, Object: Object{"2", "blue"}}
	a3 := Event{Type: Modified, Key: "/r/a", Revision: 13, Object: Object{"3", "red"}}
	gone := Event{Type: Deleted, Key: "/r/a", Revision: 14, Object: Object{"3", "red"}}
	left := Event{Type: Deleted, Key: "/r/a", Revision: 12, Object: Object{"1", "red"}}
	back := Event{Type: Added, Key: "/r/a", Revision: 13, Object: Object{"3", "red"}}
	end := Event{Type: Bookmark, Revision: 11, InitialEnd: true}
	mark := func(revision int64) Event { return Event{Type: Bookmark, Revision: revision} }
	from := func(revision int64, events ...Event) []Session { return []Session{{From: revision, Events: events}} }
	state := func(events ...Event) []Session { return []Session{{Initial: true, Events: events}} }
	cases := []struct {
		name     string
		watch    Selection
		sessions []Session
		until    int64
		want     error
	}{
		{"complete and in order", all, from(9, a1, b1, a2, a3, gone), 14, nil},
		{"from a later revision", all, from(11, a2, a3, gone), 14, nil},
		{"ended early", all, from(9, a1, b1), 0, nil},
		{"from the state", all, state(a1, b1, end, a2, a3), 13, nil},
		{"correct bookmarks", all, from(9, mark(9), a1, mark(10), b1, a2, mark(12)), 12, nil},
		{"resumed", all, append(from(9, a1, b1), from(11, a2, a3)...), 13, nil},
		{"one colour", Selection{"/r/", "red"}, from(9, a1, b1, left, back, gone), 14, nil},
		{"one key", Selection{Scope: "/r/b"}, from(9, b1), 14, nil},

		{"swapped", all, from(9, b1, a1, a2), 0, ErrOrdered},
		{"an old event", all, from(11, a1, a2), 0, ErrOrdered},
		{"bookmark goes back", all, from(9, a1, b1, mark(10)), 0, ErrOrdered},
		{"repeated", all, from(9, a1, b1, b1), 0, ErrUnique},
		{"an event is missing", all, from(9, a1, a2), 0, ErrReliable},
		{"the last event is missing", all, from(9, a1, b1, a2, a3), 14, ErrReliable},
		{"resumed too late", all, append(from(9, a1), from(10, a2)...), 0, ErrResumable},
		{"bookmark too early", all, from(9, a1, mark(11), b1), 0, ErrBookmarkable},
		{"another state", all, from(9, Event{Type: Added, Key: "/r/a", Revision: 10, Object: Object{"9", "red"}}), 0, ErrTruthful},
		{"another type", all, from(11, Event{Type: Added, Key: "/r/a", Revision: 12, Object: a2.Object}), 0, ErrTruthful},
		{"an event that does not match", Selection{"/r/", "red"}, from(9, a1, b1, a2), 0, ErrTruthful},
		{"deletion with the state that stopped matching", Selection{"/r/", "red"},
			from(9, a1, b1, Event{Type: Deleted, Key: "/r/a", Revision: 12, Object: a2.Object}), 0, ErrTruthful},
		{"incomplete state", all, state(a1, end), 0, ErrInitial},
		{"state in another order", all, state(b1, a1, end), 0, ErrInitial},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			log := &Log{Watches: []Watch{{Selection: c.watch, Sessions: c.sessions, Until: c.until}}}
			err := errors.Join(checkWatch(history(t), log.Watches[0])...)
			if !errors.Is(err, c.want) {
				t.Errorf("Check returns %v, want %v", err, c.want)
			}
		})
	}
}
