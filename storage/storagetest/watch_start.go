package storagetest

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

func watchStartRules() []rule {
	return []rule{
		{"sendInitialEvents and resourceVersion select the start", watchBegins},
		{"the initial events are in the order of keys", watchInitialOrder},
		{"the end of the initial events is marked without objects", watchInitialNone},
		{"events follow the initial events without a gap", watchInitialThenEvents},
		{"a long initial state is complete", watchInitialLong},
		{"initial events of one key", watchInitialOneKey},
		{"initial events at a revision ahead of the store are rejected", watchInitialFuture},
		{"an invalid resourceVersion is rejected", watchInvalidVersion},
	}
}

// The ways a watch starts.
const (
	fromState    = "state"    // with the current state and a marker of its end
	fromNow      = "now"      // with the next event
	fromRevision = "revision" // with the first event after N
)

func watchBegins(e *env) {
	yes, no := true, false
	cases := []struct {
		send    *bool
		version string
		want    string
	}{
		{nil, "", fromState},
		{nil, "0", fromState},
		{nil, "N", fromRevision},
		{&yes, "", fromState},
		{&yes, "0", fromState},
		{&yes, "N", fromState},
		{&no, "", fromNow},
		{&no, "0", fromNow},
		{&no, "N", fromRevision},
	}
	n := e.create(e.object("a", "1")).Revision
	current := e.set("a", "2")
	streams := make([]*stream, len(cases))
	for i, c := range cases {
		asked := c.version
		if asked == "N" {
			asked = version(n)
		}
		streams[i] = e.watchAll(storage.WatchOptions{ResourceVersion: asked, SendInitialEvents: c.send})
	}
	marker := e.create(e.object("marker", "1"))
	for i, c := range cases {
		send := "unset"
		if c.send != nil {
			send = fmt.Sprint(*c.send)
		}
		e.sub(fmt.Sprintf("sendInitialEvents %s, resourceVersion %q: from %s", send, c.version, c.want), func(e *env) {
			s := &stream{env: e, watcher: streams[i].watcher}
			s.wantStart(c.want, current)
			s.want(added(marker, "marker", "1"))
		})
	}
}

// wantStart checks the first events of a watch of one object, whose current version is the second
// one, with the value 2.
func (s *stream) wantStart(begins string, current *storage.Entry) {
	s.Helper()
	switch begins {
	case fromRevision:
		s.want(modified(current, "a", "2"))
	case fromState:
		s.want(added(current, "a", "2"))
		if end := s.wantInitialEnd(); end != current.Revision {
			s.Errorf("the initial events end at revision %d, want %d", end, current.Revision)
		}
	}
}

func watchInitialOrder(e *env) {
	e.create(e.object("c", "1"))
	e.create(e.object("a", "1"))
	e.create(e.object("b", "1"))
	a := e.set("a", "2")
	b, c := e.get("b"), e.get("c")
	s := e.watchAll(storage.WatchOptions{})
	s.want(added(a, "a", "2"), added(b, "b", "1"), added(c, "c", "1"))
	s.wantInitialEnd()
}

func watchInitialNone(e *env) {
	e.create(e.object("a", "1"))
	gone := e.delete("a")
	yes := true
	for _, send := range []*bool{nil, &yes} {
		s := e.watchAll(storage.WatchOptions{SendInitialEvents: send})
		if end := s.wantInitialEnd(); end < gone.Revision {
			e.Errorf("the initial events end at revision %d, before %d", end, gone.Revision)
		}
	}
}

// watchInitialThenEvents writes while watches start: the initial events and the following events
// of each watch must be complete up to the last write.
func watchInitialThenEvents(e *env) {
	const n = 40
	e.create(e.object("a", "0"))
	for i := range n {
		s := e.watchAll(storage.WatchOptions{})
		last := e.set("a", fmt.Sprint(i+1))
		event := s.next()
		if event.Type != watch.Added {
			e.Fatalf("the first event is %+v", event)
		}
		end := s.wantInitialEnd()
		switch got := valueOf(e.open(event.Entry)); got {
		case fmt.Sprint(i):
			s.want(modified(last, "a", fmt.Sprint(i+1)))
		case fmt.Sprint(i + 1):
			if end < last.Revision {
				e.Errorf("the initial events hold revision %d and end at %d", last.Revision, end)
			}
		default:
			e.Errorf("the watch starts with %q at write %d", got, i)
		}
		s.watcher.Stop()
	}
}

func watchInitialLong(e *env) {
	const n = 1234
	e.many(n, everyThird)
	s := e.watchAll(storage.WatchOptions{Predicate: e.kind.Coloured("red")})
	for i := 0; i < n; i += 3 {
		if event := s.next(); event.Entry == nil || event.Entry.Key != e.key(fmt.Sprintf("o%05d", i)) {
			e.Fatalf("initial event for object %d is %+v", i, event)
		}
	}
	s.wantInitialEnd()
	marker := e.create(e.painted("marker", "1", "red"))
	s.want(added(marker, "marker", "1"))
}

func watchInitialOneKey(e *env) {
	a := e.create(e.object("a", "1"))
	e.create(e.object("ab", "1"))
	s := e.watch(e.key("a"), storage.WatchOptions{})
	s.want(added(a, "a", "1"))
	s.wantInitialEnd()
	gone := e.delete("a")
	s.want(deleted(gone, "a", "1"))
}

func watchInitialFuture(e *env) {
	asked := e.create(e.object("a", "1")).Revision + 1000
	yes := true
	watcher, err := e.Store.Watch(e.Context(), e.below(""),
		storage.WatchOptions{Recursive: true, ResourceVersion: version(asked), SendInitialEvents: &yes})
	if err == nil {
		s := &stream{env: e, watcher: watcher}
		e.Cleanup(watcher.Stop)
		err = s.wantFailure()
	}
	e.wantError(err, storage.ErrFutureRevision, "watch", e.below(""))
	e.wantFuture(err, asked)
}

func watchInvalidVersion(e *env) {
	for _, malformed := range []string{"abc", "-1", "99999999999999999999"} {
		watcher, err := e.Store.Watch(e.Context(), e.below(""),
			storage.WatchOptions{Recursive: true, ResourceVersion: malformed})
		if err == nil {
			watcher.Stop()
		}
		if !errors.Is(err, versioner.ErrInvalidVersion) {
			e.Errorf("Watch at %q: %v, want %v", malformed, err, versioner.ErrInvalidVersion)
		}
	}
}
