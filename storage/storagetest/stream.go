package storagetest

import (
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// patience is how long a test waits for an expected event. A passing test never waits that long.
const patience = time.Minute

// stream reads the events of a watch.
type stream struct {
	*env
	watcher storage.Watcher
}

// seen is an event in comparable form.
type seen struct {
	Type     watch.EventType
	Name     string
	Value    string
	Revision int64
}

func (e *env) watch(key string, opts storage.WatchOptions) *stream {
	e.Helper()
	watcher, err := e.Store.Watch(e.Context(), key, opts)
	if err != nil {
		e.Fatalf("Watch %s %+v: %v", key, opts, err)
	}
	e.Cleanup(watcher.Stop)
	return &stream{env: e, watcher: watcher}
}

// watchAll watches all objects of the store.
func (e *env) watchAll(opts storage.WatchOptions) *stream {
	e.Helper()
	opts.Recursive = true
	return e.watch(e.below(""), opts)
}

// watchFrom watches all objects after a revision.
func (e *env) watchFrom(revision int64) *stream {
	e.Helper()
	return e.watchAll(storage.WatchOptions{ResourceVersion: version(revision)})
}

func version(revision int64) string { return versioner.Format(revision) }

// receive returns the next event; ok is false if the watch has ended.
func (s *stream) receive() (event storage.Event, ok bool) {
	s.Helper()
	select {
	case event, ok = <-s.watcher.Events():
		return event, ok
	case <-time.After(patience):
		s.Fatal("no event came")
		return storage.Event{}, false
	}
}

// next returns the next event that is not an ordinary bookmark.
func (s *stream) next() storage.Event {
	s.Helper()
	for {
		event, ok := s.receive()
		if !ok {
			s.Fatal("the watch is over")
		}
		if event.Type != watch.Bookmark || event.InitialEventsEnd {
			return event
		}
	}
}

// want checks the next events, and that no other events precede them.
func (s *stream) want(wanted ...seen) {
	s.Helper()
	for _, want := range wanted {
		event := s.next()
		if event.Err != nil {
			s.Fatalf("error event %v, want %+v", event.Err, want)
		}
		if diff := cmp.Diff(want, s.describe(event)); diff != "" {
			s.Errorf("event (-want +got):\n%s", diff)
		}
	}
}

func (s *stream) describe(event storage.Event) seen {
	s.Helper()
	if event.Entry == nil {
		return seen{Type: event.Type, Revision: event.Revision}
	}
	if event.Entry.Revision != event.Revision {
		s.Errorf("event of revision %d has an entry of revision %d", event.Revision, event.Entry.Revision)
	}
	s.wantResourceVersion(event.Entry)
	obj := s.open(event.Entry)
	return seen{Type: event.Type, Name: obj.GetName(), Value: valueOf(obj), Revision: event.Revision}
}

// wantInitialEnd checks that the next event ends the initial events, and returns its revision.
func (s *stream) wantInitialEnd() int64 {
	s.Helper()
	event := s.next()
	if event.Type != watch.Bookmark || !event.InitialEventsEnd || event.Entry != nil {
		s.Errorf("event is %+v, want the end of the initial events", event)
	}
	return event.Revision
}

// wantFailure checks that the last event is an error, and returns the error.
func (s *stream) wantFailure() error {
	s.Helper()
	event := s.next()
	if event.Type != watch.Error || event.Err == nil || event.Entry != nil {
		s.Fatalf("event is %+v, want an error", event)
	}
	s.wantOver()
	return event.Err
}

// wantOver reads the watch until it is closed.
func (s *stream) wantOver() {
	s.Helper()
	for {
		if _, ok := s.receive(); !ok {
			return
		}
	}
}

func added(entry *storage.Entry, name, value string) seen {
	return seen{watch.Added, name, value, entry.Revision}
}

func modified(entry *storage.Entry, name, value string) seen {
	return seen{watch.Modified, name, value, entry.Revision}
}

func deleted(entry *storage.Entry, name, value string) seen {
	return seen{watch.Deleted, name, value, entry.Revision}
}
