package model

import (
	"errors"
	"fmt"
)

// Log holds the observations of the clients of a store.
type Log struct {
	Writes       []Write
	Observations []Observation
	Lists        []List
	Watches      []Watch
	// Resolved counts the writes whose outcome was unknown at first.
	Resolved int
	// Faults are errors that a correct store does not return.
	Faults []error
}

// Span is the time of the call and of the return of an operation, on a clock that all clients
// share and that ticks at every call and return.
type Span struct {
	Call, Return int64
}

// Write is an acknowledged write, or a write with an unknown outcome.
type Write struct {
	Span
	Key      string
	Object   // the written object; zero for a deletion
	Deleted  bool
	Revision int64 // 0 if the outcome is unknown
	// Base is the revision of the version that the write is based on, 0 if there was none.
	Base    int64
	Unknown bool
}

// Observation is what a client observed of one key, from an answer or an error.
type Observation struct {
	Span
	Key      string
	Saw      Visibility
	Revision int64 // of the version, for SawVersion and SawOther
	// Any allows a state from before the call.
	Any bool
}

// Visibility is what an observation shows of a key.
type Visibility string

const (
	SawVersion Visibility = "this version"
	SawOther   Visibility = "another version"
	SawAny     Visibility = "some version"
	SawNothing Visibility = "no version"
)

// List is a list with all of its pages.
type List struct {
	Span
	Selection
	Revision int64
	Versions []Version
	// Any allows a state from before the call.
	Any bool
}

// EventType is the type of an event.
type EventType string

const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	Bookmark EventType = "BOOKMARK"
)

// Event is one event of a watch.
type Event struct {
	Type     EventType
	Key      string
	Revision int64
	Object
	InitialEnd bool
}

// Watch is a watch with the sessions that resumed it.
type Watch struct {
	Name string
	Selection
	Sessions []Session
	// Until is the revision up to which all events must have arrived; 0: the watch was abandoned
	// earlier.
	Until int64
}

// Session is one watch from its start to its end.
type Session struct {
	// Initial means that it started with the current state. Otherwise it started after From.
	Initial bool
	From    int64
	Events  []Event
}

// String returns the numbers of observations.
func (l *Log) String() string {
	sessions, events := 0, 0
	for _, w := range l.Watches {
		sessions += len(w.Sessions)
		for _, s := range w.Sessions {
			events += len(s.Events)
		}
	}
	return fmt.Sprintf("%d writes (%d unknown at first), %d glances at keys, %d lists, %d watches in %d sessions with %d events",
		len(l.Writes), l.Resolved, len(l.Observations), len(l.Lists), len(l.Watches), sessions, events)
}

// Check returns all contradictions between a log and the history.
func Check(h *History, log *Log) error {
	var errs []error
	errs = append(errs, log.Faults...)
	errs = append(errs, checkWrites(h, log.Writes)...)
	errs = append(errs, checkLists(h, log.Lists)...)
	errs = append(errs, checkOrder(h, log)...)
	for _, w := range log.Watches {
		errs = append(errs, checkWatch(h, w)...)
	}
	return errors.Join(errs...)
}
