package watchcache

import (
	"slices"
	"strings"

	"k8s.io/utils/third_party/forked/golang/btree"

	"github.com/miniapi/miniapi/storage"
)

// degree of the B-tree: what one write copies after a snapshot grows with it,
// the depth shrinks.
const degree = 32

// item is an entry beside its key, so that a search looks at no entries.
type item struct {
	key   string
	entry *storage.Entry
}

// entries are ordered by key.
type entries = btree.BTree[item]

// tree holds entries ordered by key. Snapshots of it are cheap and share what
// does not change.
type tree struct {
	entries *entries
	// shared is a snapshot that nothing was written after; nil: none is there.
	shared *snapshot
}

// snapshot is a tree that does not change any more.
type snapshot struct {
	entries *entries
}

func newTree() *tree {
	return &tree{entries: btree.New(degree, func(a, b item) bool { return a.key < b.key })}
}

// set returns the entry that was there, nil if none was.
func (t *tree) set(entry *storage.Entry) *storage.Entry {
	t.shared = nil
	before, _ := t.entries.ReplaceOrInsert(item{entry.Key, entry})
	return before.entry
}

// remove returns the entry that was there, nil if none was.
func (t *tree) remove(key string) *storage.Entry {
	t.shared = nil
	before, _ := t.entries.Delete(item{key: key})
	return before.entry
}

func (t *tree) get(key string) *storage.Entry { return get(t.entries, key) }

// snapshot needs the tree to itself unless shared is set.
func (t *tree) snapshot() *snapshot {
	if t.shared == nil {
		t.shared = &snapshot{entries: t.entries.Clone()}
	}
	return t.shared
}

func (s *snapshot) get(key string) *storage.Entry { return get(s.entries, key) }

func get(entries *entries, key string) *storage.Entry {
	found, _ := entries.Get(item{key: key})
	return found.entry
}

// ascend visits the entries whose keys begin with prefix, from a key on, until
// visit returns false.
func (s *snapshot) ascend(prefix, from string, visit func(*storage.Entry) bool) {
	s.entries.AscendGreaterOrEqual(item{key: max(prefix, from)}, func(found item) bool {
		return strings.HasPrefix(found.key, prefix) && visit(found.entry)
	})
}

// count returns how many keys begin with prefix, from a key on.
func (s *snapshot) count(prefix, from string) int64 {
	n := int64(0)
	s.ascend(prefix, from, func(*storage.Entry) bool { n++; return true })
	return n
}

// undo turns the latest state, which nobody else may be using, into that before
// events.
func undo(latest *entries, events []*event) *snapshot {
	for _, e := range slices.Backward(events) {
		if e.before != nil {
			latest.ReplaceOrInsert(item{e.key, e.before})
		} else {
			latest.Delete(item{key: e.key})
		}
	}
	return &snapshot{entries: latest}
}
