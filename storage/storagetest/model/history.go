package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Object is an object in the model.
type Object struct {
	Value  string
	Colour string // what predicates select by
}

// Change is one write in etcd's history.
type Change struct {
	Revision int64
	Key      string
	Object   // zero for a deletion
	Deleted  bool
}

// History is the sequence of all changes. Each change has its own revision.
type History struct {
	changes []Change
	byKey   map[string][]Change
}

// NewHistory returns the history of changes, which must be in order.
func NewHistory(changes []Change) (*History, error) {
	h := &History{changes: changes, byKey: map[string][]Change{}}
	last := int64(0)
	for _, c := range changes {
		if c.Revision <= last {
			return nil, fmt.Errorf("change of %s at revision %d after %d", c.Key, c.Revision, last)
		}
		last = c.Revision
		h.byKey[c.Key] = append(h.byKey[c.Key], c)
	}
	return h, nil
}

// Covers reports whether key is in a scope: a key, or a prefix that ends in a slash.
func Covers(scope, key string) bool {
	return key == scope || strings.HasSuffix(scope, "/") && strings.HasPrefix(key, scope)
}

// at returns the version of a key at a revision.
func (h *History) at(key string, revision int64) (Change, bool) {
	versions := h.byKey[key]
	i, found := slices.BinarySearchFunc(versions, revision, byRevision)
	if !found {
		i--
	}
	if i < 0 || versions[i].Deleted {
		return Change{}, false
	}
	return versions[i], true
}

func byRevision(c Change, revision int64) int { return cmp.Compare(c.Revision, revision) }

// state returns the matching versions of a scope at a revision, in the order of keys.
func (h *History) state(s Selection, revision int64) []Version {
	var versions []Version
	for _, key := range slices.Sorted(maps.Keys(h.byKey)) {
		if !Covers(s.Scope, key) {
			continue
		}
		if c, ok := h.at(key, revision); ok && s.matches(c.Object) {
			versions = append(versions, Version{Key: key, Revision: c.Revision, Object: c.Object})
		}
	}
	return versions
}

// Version is one version of an object.
type Version struct {
	Key      string
	Revision int64
	Object
}

// Selection is the scope and the predicate of a list or a watch.
type Selection struct {
	Scope  string
	Colour string // "": all
}

func (s Selection) matches(o Object) bool { return s.Colour == "" || s.Colour == o.Colour }

// find returns the change at a revision.
func (h *History) find(revision int64) (Change, bool) {
	i, found := slices.BinarySearchFunc(h.changes, revision, byRevision)
	if !found {
		return Change{}, false
	}
	return h.changes[i], true
}

// events returns the expected events of a watch after a revision.
func (h *History) events(s Selection, after int64) []Event {
	var events []Event
	for _, c := range h.changes {
		if c.Revision <= after || !Covers(s.Scope, c.Key) {
			continue
		}
		before, existed := h.at(c.Key, c.Revision-1)
		was := existed && s.matches(before.Object)
		is := !c.Deleted && s.matches(c.Object)
		e := Event{Key: c.Key, Revision: c.Revision, Object: c.Object}
		switch {
		case is && was:
			e.Type = Modified
		case is:
			e.Type = Added
		case was:
			e.Type, e.Object = Deleted, before.Object // the last state that matched
		default:
			continue
		}
		events = append(events, e)
	}
	return events
}
