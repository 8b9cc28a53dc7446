package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/storagetest/model"
)

// watchClient watches, stops, and resumes, repeatedly.
type watchClient struct {
	*simulator
	random *rand.Rand
	name   string
	number int
	late   int // sessions stopped after the last write
}

// lateSessions is the number of sessions that a client stops and resumes after the last write.
// Without it, a short simulation would end with few resumed watches.
const lateSessions = 4

// run watches until it has received the last write.
func (c *watchClient) run(ctx context.Context) {
	for ctx.Err() == nil {
		c.number++
		w := model.Watch{Name: fmt.Sprintf("%s.%d", c.name, c.number), Selection: c.selection(c.random)}
		done := c.follow(ctx, &w)
		c.record(func(log *model.Log) { log.Watches = append(log.Watches, w) })
		if done {
			return
		}
	}
}

// follow watches one selection in several sessions. It returns true if the last write was received
// or did not arrive in time, and false if the watch ended because of compaction or was abandoned
// for another selection.
func (c *watchClient) follow(ctx context.Context, w *model.Watch) (done bool) {
	from, initial := c.past(c.random), c.random.IntN(3) == 0
	for ctx.Err() == nil {
		s := &session{Session: model.Session{From: from, Initial: initial}, selection: w.Selection}
		if initial {
			s.From = 0
		}
		end := c.watch(ctx, s)
		w.Sessions = append(w.Sessions, s.Session)
		switch {
		case end == sawEverything:
			w.Until = c.lastOf(w.Scope)
			return true
		case end == gaveUp, s.last == 0, c.random.IntN(8) == 0:
			return false
		}
		from, initial = s.last, false
	}
	return true
}

// session is one running watch.
type session struct {
	model.Session
	selection model.Selection
	last      int64 // revision up to which it is complete; 0: incomplete
	// requests receives the requests for progress. Nil: none.
	requests chan struct{}
}

// The reasons for the end of a session.
type sessionEnd int

const (
	stopped sessionEnd = iota
	sawEverything
	gaveUp
)

// lastOf returns the revision of the last write in a scope. It is known after ended is closed.
func (w *simulator) lastOf(scope string) int64 {
	last := int64(0)
	for key, revision := range w.ends {
		if model.Covers(scope, key) {
			last = max(last, revision)
		}
	}
	return last
}

func (c *watchClient) options(s *session) storage.WatchOptions {
	opts := storage.WatchOptions{
		Recursive:      s.selection.Scope[len(s.selection.Scope)-1] == '/',
		ProgressNotify: c.random.IntN(2) == 0,
	}
	if s.selection.Colour != "" {
		opts.Predicate = c.coloured(c.random, s.selection.Colour)
	}
	switch {
	case !s.Initial:
		s.last = s.From
		opts.ResourceVersion = version(s.From)
	case c.random.IntN(2) == 0: // a state not older than a revision
		opts.SendInitialEvents = new(true)
		opts.ResourceVersion = version(c.past(c.random))
	}
	if c.random.IntN(2) == 0 {
		s.requests = make(chan struct{})
		opts.ProgressRequests = s.requests
	}
	return opts
}

// watch runs a session for a number of events or, if there are no more events, until the last
// write.
func (c *watchClient) watch(ctx context.Context, s *session) sessionEnd {
	watcher, err := c.Store.Watch(ctx, s.selection.Scope, c.options(s))
	if err != nil {
		return c.broken(s, err)
	}
	defer watcher.Stop()
	ended := c.ended
	var impatient <-chan time.Time
	for some := 1 + c.random.IntN(40); ; {
		select {
		case s.requests <- struct{}{}:
			s.requests = nil // the answer is a bookmark
		case e, open := <-watcher.Events():
			if !open {
				return stopped // without an error: the watch can be resumed
			}
			if e.Type == watch.Error {
				return c.broken(s, e.Err)
			}
			if err := s.take(e); err != nil {
				c.violation(fmt.Errorf("watch %+v: %w", s.selection, err))
			}
			some--
		case <-ended:
			ended, impatient = nil, time.After(c.patience)
		case <-impatient:
			return sawEverything // the checker reports the missing event
		}
		if ended == nil && s.last >= c.lastOf(s.selection.Scope) {
			return sawEverything
		}
		if some <= 0 && c.mayStop(ended == nil) {
			return stopped
		}
	}
}

func (c *watchClient) mayStop(late bool) bool {
	if late {
		c.late++
	}
	return c.late <= lateSessions
}

// broken checks that a watch was ended for a valid reason.
func (c *watchClient) broken(s *session, err error) sessionEnd {
	switch {
	case errors.Is(err, storage.ErrCompacted):
		if s.last > 0 {
			c.checkCompacted(s.last, err)
		}
	case !errors.Is(err, storage.ErrUnavailable):
		c.violation(fmt.Errorf("watch %+v: %w", s.selection, err))
	}
	return gaveUp
}

// take records an event.
func (s *session) take(e storage.Event) error {
	event := model.Event{Type: model.EventType(e.Type), Revision: e.Revision, InitialEnd: e.InitialEventsEnd}
	if e.Entry != nil {
		obj, err := e.Entry.Object()
		if err != nil {
			return err
		}
		event.Key, event.Object = e.Entry.Key, modelObject(obj.(Object))
		if e.Entry.Revision != e.Revision {
			return fmt.Errorf("%w: event of revision %d has an entry of revision %d", model.ErrTruthful, e.Revision, e.Entry.Revision)
		}
	}
	s.Events = append(s.Events, event)
	if !s.Initial || event.InitialEnd || s.last > 0 {
		s.last = max(s.last, e.Revision)
	}
	return nil
}
