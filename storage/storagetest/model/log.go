package model

import (
	"errors"
	"fmt"
)

// Log is what the clients of a store saw.
type Log struct {
	Writes  []Write
	Glances []Glance
	Lists   []List
	Watches []Watch
	// Resolved counts the writes whose outcome was unknown at first.
	Resolved int
	// Faults are errors that no client should have been given.
	Faults []error
}

// Span is when an operation was called and when it returned, on a clock that
// all clients share and that ticks at every call and return.
type Span struct {
	Call, Return int64
}

// Write is a write that was acknowledged, or whose outcome is not known.
type Write struct {
	Span
	Key      string
	Object   // what was written; zero in a deletion
	Deleted  bool
	Revision int64 // 0 if the outcome is not known
	// Base is the revision of the version that the write was made of, 0 if it
	// was made of nothing.
	Base    int64
	Unknown bool
}

// Glance is what a client learnt about one key, be it from an answer or from a
// refusal.
type Glance struct {
	Span
	Key      string
	Saw      Sight
	Revision int64 // of the version, for Saw and SawOther
	// Any allows a state from before the call.
	Any bool
}

// Sight is what there was to see.
type Sight string

const (
	SawVersion Sight = "this version"
	SawOther   Sight = "something else than this version"
	SawAny     Sight = "some version"
	SawNothing Sight = "nothing"
)

// List is a list, all of its pages together.
type List struct {
	Span
	Selection
	Revision int64
	Versions []Version
	// Any allows a state from before the call.
	Any bool
}

// EventType is what an event tells.
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

// Watch is a watch and those that went on where it ended.
type Watch struct {
	Name string
	Selection
	Sessions []Session
	// Until is the revision up to which everything must have come; 0: the
	// watch was given up before.
	Until int64
}

// Session is one watch from its start to its end.
type Session struct {
	// Initial: it began with the current state. Otherwise it began after From.
	Initial bool
	From    int64
	Events  []Event
}

// String counts what was seen.
func (l *Log) String() string {
	sessions, events := 0, 0
	for _, w := range l.Watches {
		sessions += len(w.Sessions)
		for _, s := range w.Sessions {
			events += len(s.Events)
		}
	}
	return fmt.Sprintf("%d writes (%d unknown at first), %d glances at keys, %d lists, %d watches in %d sessions with %d events",
		len(l.Writes), l.Resolved, len(l.Glances), len(l.Lists), len(l.Watches), sessions, events)
}

// Check returns everything in a log that the history contradicts.
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
