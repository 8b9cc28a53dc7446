package verify

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/miniapi/miniapi/storage/storagetest/model"
	"github.com/miniapi/miniapi/test/robustness/traffic"
)

// history is the history of etcd with the indexes of the checks.
type history struct {
	model   *model.History
	changes []model.Change
	byKey   map[string][]model.Change
	// byValue has the change that has stored a value first.
	byValue map[string]model.Change
}

func newHistory(changes []model.Change) (*history, error) {
	h := &history{changes: changes, byKey: map[string][]model.Change{}, byValue: map[string]model.Change{}}
	for i, c := range changes {
		if i > 0 && c.Revision == changes[i-1].Revision {
			return nil, fmt.Errorf("%w: %+v and %+v", ErrAtomic, changes[i-1], c)
		}
		h.byKey[c.Key] = append(h.byKey[c.Key], c)
		value := traffic.ValueOf(c.Object)
		if _, known := h.byValue[value]; !known && value != "" {
			h.byValue[value] = c
		}
	}
	var err error
	h.model, err = model.NewHistory(changes)
	return h, err
}

func byRevision(c model.Change, revision int64) int { return cmp.Compare(c.Revision, revision) }

// find returns the change at a revision.
func (h *history) find(revision int64) (model.Change, bool) {
	i, found := slices.BinarySearchFunc(h.changes, revision, byRevision)
	if !found {
		return model.Change{}, false
	}
	return h.changes[i], true
}

// before returns the version of a key before a revision, zero if there was none.
func (h *history) before(key string, revision int64) model.Change {
	versions := h.byKey[key]
	i, _ := slices.BinarySearchFunc(versions, revision, byRevision)
	if i == 0 || versions[i-1].Deleted {
		return model.Change{}
	}
	return versions[i-1]
}

// after returns the first change of a key after a revision, zero if there is none.
func (h *history) after(key string, revision int64) model.Change {
	versions := h.byKey[key]
	i, _ := slices.BinarySearchFunc(versions, revision+1, byRevision)
	if i == len(versions) {
		return model.Change{}
	}
	return versions[i]
}

// LastSelected returns the revision of the last change that concerns a selection.
func LastSelected(changes []model.Change, s model.Selection) int64 {
	before, last := map[string]model.Change{}, int64(0)
	for _, c := range changes {
		matches := func(c model.Change) bool {
			return c.Key != "" && !c.Deleted && (s.Colour == "" || c.Colour == s.Colour)
		}
		if model.Covers(s.Scope, c.Key) && (matches(c) || matches(before[c.Key])) {
			last = c.Revision
		}
		before[c.Key] = c
	}
	return last
}
