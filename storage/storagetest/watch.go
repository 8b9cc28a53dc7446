package storagetest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

func watchRules() []rule {
	return []rule{
		{"sends all events after revision N in order", watchInOrder},
		{"a deletion has the last state and its own revision", watchDeletion},
		{"every update of an object is sent", watchEveryVersion},
		{"an unchanged update sends no event", watchNoOp},
		{"a watch of a key excludes longer keys", watchOneKey},
		{"a watch below a key excludes other prefixes", watchNeighbours},
		{"continues from the revision of a list", watchFromList},
		{"continues from the last revision of another watch", watchResumes},
		{"waits for a revision ahead of the store", watchFuture},
		{"watchers are independent", watchMany},
		{"a slow reader misses no event", watchSlowReader},
		{"an idle watcher receives bookmarks", watchBookmarks},
		{"a request for progress is answered with a bookmark", watchProgressRequests},
	}
}

func watchInOrder(e *env) {
	begun := e.create(e.object("a", "1"))
	b := e.create(e.object("b", "1"))
	a2 := e.set("a", "2")
	gone := e.delete("b")
	s := e.watchFrom(begun.Revision)
	s.want(added(b, "b", "1"), modified(a2, "a", "2"), deleted(gone, "b", "1"))
	again := e.create(e.object("b", "3")) // while the watch runs
	a3 := e.set("a", "3")
	s.want(added(again, "b", "3"), modified(a3, "a", "3"))
}

func watchDeletion(e *env) {
	created := e.create(e.painted("a", "1", "red"))
	s := e.watchFrom(created.Revision)
	gone := e.delete("a")
	if gone.Revision <= created.Revision {
		e.Fatalf("deleted at %d, created at %d", gone.Revision, created.Revision)
	}
	event := s.next()
	if event.Type != watch.Deleted || event.Revision != gone.Revision {
		e.Fatalf("event is %s of revision %d, want the deletion of %d", event.Type, event.Revision, gone.Revision)
	}
	e.wantEntry(event.Entry, "a", gone.Revision, "1")
	if colour := colourOf(e.open(event.Entry)); colour != "red" {
		e.Errorf("the last state has the colour %q", colour)
	}
}

func watchEveryVersion(e *env) {
	created := e.create(e.object("a", "0"))
	s := e.watchFrom(created.Revision)
	var want []seen
	for i := range 20 {
		value := fmt.Sprint(i + 1)
		want = append(want, modified(e.set("a", value), "a", value))
	}
	s.want(want...)
}

func watchNoOp(e *env) {
	created := e.create(e.object("a", "1"))
	s := e.watchFrom(created.Revision)
	e.set("a", "1")
	changed := e.set("a", "2")
	s.want(modified(changed, "a", "2"))
}

func watchOneKey(e *env) {
	begun := e.create(e.object("a", "1"))
	s := e.watch(e.key("a"), storage.WatchOptions{ResourceVersion: version(begun.Revision)})
	e.create(e.object("ab", "1"))
	e.create(e.kind.New("ns2", "a", "1"))
	a2 := e.set("a", "2")
	e.delete("ab")
	gone := e.delete("a")
	s.want(modified(a2, "a", "2"), deleted(gone, "a", "2"))
}

func watchNeighbours(e *env) {
	begun := e.create(e.object("a", "1"))
	s := e.watch(e.below("ns1"), storage.WatchOptions{Recursive: true, ResourceVersion: version(begun.Revision)})
	e.create(e.kind.New("ns10", "a", "1"))
	e.create(e.kind.New("ns1-x", "a", "1"))
	b := e.create(e.object("b", "1"))
	s.want(added(b, "b", "1"))
}

func watchFromList(e *env) {
	e.create(e.object("a", "1"))
	e.set("a", "2")
	page := e.everything()
	a3 := e.set("a", "3")
	s := e.watchFrom(page.Revision)
	s.want(modified(a3, "a", "3"))
}

func watchResumes(e *env) {
	begun := e.create(e.object("a", "0"))
	revision := begun.Revision
	for i := range 5 {
		value, second := fmt.Sprint(2*i+1), fmt.Sprint(2*i+2)
		s := e.watchFrom(revision)
		first := e.set("a", value)
		s.want(modified(first, "a", value))
		revision = first.Revision
		last := e.set("a", second) // it may be delivered before the stop
		s.watcher.Stop()
		resumed := e.watchFrom(revision)
		resumed.want(modified(last, "a", second))
		revision = last.Revision
	}
}

func watchFuture(e *env) {
	begun := e.create(e.object("a", "0"))
	s := e.watchFrom(begun.Revision + 2)
	e.set("a", "1")
	e.set("a", "2")
	third := e.set("a", "3")
	s.want(modified(third, "a", "3"))
}

func watchMany(e *env) {
	begun := e.create(e.object("a", "0"))
	streams := make([]*stream, 20)
	for i := range streams {
		streams[i] = e.watchFrom(begun.Revision)
	}
	first := e.set("a", "1")
	for i, s := range streams {
		s.want(modified(first, "a", "1"))
		if i%2 == 0 {
			s.watcher.Stop()
		}
	}
	second := e.set("a", "2")
	for i, s := range streams {
		if i%2 == 1 {
			s.want(modified(second, "a", "2"))
		}
	}
}

// watchSlowReader does not read until the watch is full. The store may end such a watch, but with
// an error and without a missing event: the watch can be resumed.
func watchSlowReader(e *env) {
	const n = 3000
	begun := e.revision()
	s := e.watchFrom(begun)
	e.many(n, colourless)
	last := begun
	for received := 0; received < n; {
		event, ok := s.receive()
		switch {
		case !ok || event.Type == watch.Error:
			s.watcher.Stop()
			s = e.watchFrom(last)
		case event.Type == watch.Added:
			want := e.key(fmt.Sprintf("o%05d", received))
			if event.Entry.Key != want {
				e.Fatalf("event %d is of %s, want %s", received, event.Entry.Key, want)
			}
			last = event.Revision
			received++
		}
	}
}

// watchProgressRequests requests the progress of a watch that has nothing to report.
func watchProgressRequests(e *env) {
	created := e.create(e.object("a", "1"))
	requests := make(chan struct{}, 1)
	s := e.watch(e.below(namespace), storage.WatchOptions{
		Recursive: true, ResourceVersion: version(created.Revision - 1), ProgressRequests: requests,
	})
	s.want(added(created, "a", "1"))
	for _, name := range []string{"a", "b"} {
		elsewhere := e.create(e.kind.New("ns2", name, "1"))
		for last := int64(0); last < elsewhere.Revision; { // a cache may apply the revision later
			requests <- struct{}{}
			event, ok := s.receive()
			if !ok || event.Type != watch.Bookmark || event.Revision < created.Revision {
				e.Fatalf("event is %+v, want a bookmark", event)
			}
			last = event.Revision
		}
	}
}

// watchBookmarks writes to another namespace than the watched one.
func watchBookmarks(e *env) {
	created := e.create(e.object("a", "1"))
	s := e.watch(e.below(namespace), storage.WatchOptions{
		Recursive: true, ResourceVersion: version(created.Revision - 1), ProgressNotify: true,
	})
	s.want(added(created, "a", "1"))
	elsewhere := e.create(e.kind.New("ns2", "a", "1"))
	for last := created.Revision; last < elsewhere.Revision; {
		event, ok := s.receive()
		if !ok || event.Type != watch.Bookmark || event.Entry != nil || event.InitialEventsEnd {
			e.Fatalf("event is %+v, want a bookmark", event)
		}
		if event.Revision < last {
			e.Fatalf("bookmark of revision %d after a bookmark of revision %d", event.Revision, last)
		}
		last = event.Revision
	}
}
