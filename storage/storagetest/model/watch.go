package model

import (
	"fmt"
	"slices"
)

// checkWatch compares the events of a watch with the expected events. It stops at the first error
// of a session, since later errors are consequences.
func checkWatch(h *History, w Watch) []error {
	var errs []error
	seen := int64(0) // revision up to which the watch is complete over all sessions
	for i, s := range w.Sessions {
		c := checker{history: h, selection: w.Selection, resumed: i > 0, seen: s.From}
		if err := c.session(s); err != nil {
			errs = append(errs, fmt.Errorf("watch %s %+v, session %d from %d: %w", w.Name, w.Selection, i, s.From, err))
			return errs
		}
		seen = c.seen
	}
	if missing := h.events(w.Selection, seen); w.Until > 0 && len(missing) > 0 && missing[0].Revision <= w.Until {
		errs = append(errs, fmt.Errorf("watch %s %+v: %w: %+v is missing", w.Name, w.Selection, ErrReliable, missing[0]))
	}
	return errs
}

type checker struct {
	history   *History
	selection Selection
	resumed   bool
	seen      int64   // revision of the last event or bookmark
	expected  []Event // expected next events
	passed    []Event // received events
}

func (c *checker) session(s Session) error {
	events := s.Events
	if s.Initial {
		end := slices.IndexFunc(events, func(e Event) bool { return e.InitialEnd })
		if end < 0 {
			return nil // ended before the revision of its initial state was known
		}
		if err := c.initial(events[:end], events[end].Revision); err != nil {
			return err
		}
		events = events[end+1:]
	}
	c.expected = c.history.events(c.selection, c.seen)
	for i, e := range events {
		var err error
		if e.Type == Bookmark {
			err = c.bookmark(e)
		} else {
			err = c.event(events[i:])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// initial checks the initial events.
func (c *checker) initial(events []Event, revision int64) error {
	var want []Event
	for _, v := range c.history.state(c.selection, revision) {
		want = append(want, Event{Type: Added, Key: v.Key, Revision: v.Revision, Object: v.Object})
	}
	if !slices.Equal(events, want) {
		return fmt.Errorf("%w: at revision %d: %+v, the state is %+v", ErrInitial, revision, events, want)
	}
	c.seen = revision
	return nil
}

func (c *checker) bookmark(e Event) error {
	if e.Revision < c.seen {
		return fmt.Errorf("%w: bookmark of revision %d after revision %d", ErrOrdered, e.Revision, c.seen)
	}
	if len(c.expected) > 0 && c.expected[0].Revision <= e.Revision {
		return fmt.Errorf("%w: bookmark of %d, but %+v is missing", ErrBookmarkable, e.Revision, c.expected[0])
	}
	c.seen = e.Revision
	return nil
}

// event checks that the first of the remaining events is the expected one, and otherwise
// determines which guarantee is broken.
func (c *checker) event(left []Event) error {
	e := left[0]
	if len(c.expected) > 0 && c.expected[0] == e {
		c.seen = e.Revision
		c.expected, c.passed = c.expected[1:], append(c.passed, e)
		return nil
	}
	switch {
	case slices.Contains(c.passed, e):
		return fmt.Errorf("%w: %+v", ErrUnique, e)
	case e.Revision <= c.seen:
		return fmt.Errorf("%w: %+v after revision %d", ErrOrdered, e, c.seen)
	case !slices.Contains(c.expected, e):
		return fmt.Errorf("%w: %+v, but next is %+v", ErrTruthful, e, c.expected[:min(1, len(c.expected))])
	case slices.Contains(left, c.expected[0]):
		return fmt.Errorf("%w: %+v before %+v", ErrOrdered, e, c.expected[0])
	case c.resumed && len(c.passed) == 0:
		return fmt.Errorf("%w: %+v is missing before %+v", ErrResumable, c.expected[0], e)
	default:
		return fmt.Errorf("%w: %+v is missing before %+v", ErrReliable, c.expected[0], e)
	}
}
