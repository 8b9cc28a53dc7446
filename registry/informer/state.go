package informer

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

// state is the known set.
//
// Invariant: entries include every write before revision, and may lack some of those at revision.
type state struct {
	entries  map[string]*storage.Entry // by key
	revision int64
	// listed is the revision of the last list. The entries lacked nothing of it.
	listed int64
}

// list returns the entries in the order of keys.
func (s *state) list() []*storage.Entry {
	entries := make([]*storage.Entry, 0, len(s.entries))
	for _, key := range slices.Sorted(maps.Keys(s.entries)) {
		entries = append(entries, s.entries[key])
	}
	return entries
}

// replace merges a list and returns the differences, deletions first. A list from before the state
// changes nothing.
func (s *state) replace(page *storage.Page) []Change {
	if page.Revision < s.revision {
		return nil
	}
	s.revision, s.listed = page.Revision, page.Revision
	if page.Unchanged {
		return nil
	}
	var changes []Change
	next := make(map[string]*storage.Entry, len(page.Entries))
	for _, entry := range page.Entries {
		next[entry.Key] = entry
		if old := s.entries[entry.Key]; old == nil || old.Revision != entry.Revision {
			changes = append(changes, Change{Key: entry.Key, Old: old, New: entry, listed: true})
		}
	}
	var deleted []Change
	for key, old := range s.entries {
		if next[key] == nil {
			deleted = append(deleted, Change{Key: key, Old: old})
		}
	}
	slices.SortFunc(deleted, func(a, b Change) int { return strings.Compare(a.Key, b.Key) })
	s.entries = next
	return append(deleted, changes...)
}

// apply merges an event and returns the change it made; ok is false if it made none. An event from
// before the state is ignored. One at its revision is not: several keys can change at one revision,
// and a list may have included it.
func (s *state) apply(event storage.Event) (change Change, ok bool) {
	if event.Revision < s.revision || event.Entry == nil {
		return Change{}, false
	}
	s.revision = event.Revision
	key := event.Entry.Key
	change = Change{Key: key, Old: s.entries[key]}
	if event.Type == watch.Deleted {
		delete(s.entries, key)
		return change, change.Old != nil
	}
	if change.Old != nil && change.Old.Revision >= event.Entry.Revision {
		return Change{}, false
	}
	change.New = event.Entry
	s.entries[key] = event.Entry
	return change, true
}
