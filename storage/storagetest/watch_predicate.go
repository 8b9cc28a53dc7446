package storagetest

import (
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

func watchPredicateRules() []rule {
	return []rule{
		{"an object that starts to match is added and one that stops is deleted", watchTransitions},
		{"the state that does not match is not sent", watchHidesUnmatched},
		{"the predicate applies to initial events", watchInitialSelected},
		{"a field selector applies", watchByField},
		{"a transition from a past revision is sent", watchTransitionFromRevision},
	}
}

// watchTransitions tests all pairs of states before and after a write. red matches.
func watchTransitions(e *env) {
	const none = "-" // no object
	cases := []struct {
		name          string
		before, after string
		want          watch.EventType // "" for no event
		value         string
	}{
		{"created matching", none, "red", watch.Added, "after"},
		{"created not matching", none, "blue", "", ""},
		{"stays matching", "red", "red", watch.Modified, "after"},
		{"starts to match", "blue", "red", watch.Added, "after"},
		{"stops matching", "red", "blue", watch.Deleted, "before"},
		{"stays not matching", "blue", "green", "", ""},
		{"deleted matching", "red", none, watch.Deleted, "before"},
		{"deleted not matching", "blue", none, "", ""},
	}
	for _, c := range cases {
		e.sub(c.name, func(e *env) {
			if c.before != none {
				e.create(e.painted("a", "before", c.before))
			}
			s := e.watchAll(storage.WatchOptions{ResourceVersion: version(e.revision()), Predicate: e.kind.Coloured("red")})
			revision := e.transition(c.before == none, c.after == none, c.after)
			if c.want != "" {
				s.want(seen{c.want, "a", c.value, revision})
			}
			marker := e.create(e.painted("marker", "1", "red")) // no other event came before it
			s.want(added(marker, "marker", "1"))
			e.clear()
		})
	}
}

// transition changes object a from one state to another.
func (e *env) transition(wasNone, becomesNone bool, colour string) int64 {
	e.Helper()
	switch {
	case wasNone:
		return e.create(e.painted("a", "after", colour)).Revision
	case becomesNone:
		return e.delete("a").Revision
	default:
		return e.repaint("a", "after", colour).Revision
	}
}

func (e *env) repaint(name, value, colour string) *storage.Entry {
	e.Helper()
	return e.update(name, change(func(obj Object) {
		setValue(obj, value)
		paint(obj, colour)
	}), storage.UpdateOptions{}).Entry
}

// clear deletes all objects of the namespace.
func (e *env) clear() {
	e.Helper()
	for _, entry := range e.list(e.below(namespace), recursive()).Entries {
		e.delete(e.open(entry).GetName())
	}
}

func watchHidesUnmatched(e *env) {
	created := e.create(e.painted("a", "before", "red"))
	s := e.watchAll(storage.WatchOptions{ResourceVersion: version(created.Revision), Predicate: e.kind.Coloured("red")})
	left := e.repaint("a", "after", "blue")
	event := s.next()
	if event.Type != watch.Deleted || event.Revision != left.Revision {
		e.Fatalf("event is %s of revision %d, want the deletion of %d", event.Type, event.Revision, left.Revision)
	}
	e.wantEntry(event.Entry, "a", left.Revision, "before")
	if colour := colourOf(e.open(event.Entry)); colour != "red" {
		e.Errorf("the last state that matched has the colour %q", colour)
	}
	e.set("a", "unseen")
	back := e.repaint("a", "again", "red")
	s.want(added(back, "a", "again"))
}

func watchInitialSelected(e *env) {
	e.create(e.painted("a", "1", "blue"))
	b := e.create(e.painted("b", "1", "red"))
	s := e.watchAll(storage.WatchOptions{Predicate: e.kind.Coloured("red")})
	s.want(added(b, "b", "1"))
	s.wantInitialEnd()
	a := e.repaint("a", "2", "red") // the store has an older version, the watcher does not
	s.want(added(a, "a", "2"))
	gone := e.delete("b")
	s.want(deleted(gone, "b", "1"))
}

func watchByField(e *env) {
	begun := e.create(e.object("b", "1"))
	s := e.watchAll(storage.WatchOptions{ResourceVersion: version(begun.Revision), Predicate: e.kind.Named("b")})
	e.create(e.object("a", "1"))
	b2 := e.set("b", "2")
	gone := e.delete("b")
	s.want(modified(b2, "b", "2"), deleted(gone, "b", "2"))
}

func watchTransitionFromRevision(e *env) {
	created := e.create(e.painted("a", "1", "red"))
	left := e.repaint("a", "2", "blue")
	back := e.repaint("a", "3", "red")
	stayed := e.repaint("a", "4", "red")
	gone := e.delete("a")
	s := e.watchAll(storage.WatchOptions{ResourceVersion: version(created.Revision - 1), Predicate: e.kind.Coloured("red")})
	s.want(added(created, "a", "1"), deleted(left, "a", "1"), added(back, "a", "3"),
		modified(stayed, "a", "4"), deleted(gone, "a", "4"))
}
