package watchcache

import (
	"slices"
	"strings"

	"k8s.io/utils/third_party/forked/golang/btree"

	"github.com/miniapi/miniapi/storage"
)

// degree is the degree of the B-tree. A higher degree makes the tree flatter, but a write after a
// snapshot copies more.
const degree = 32

// item is an entry with its key, so that a search does not dereference entries.
type item struct {
	key   string
	entry *storage.Entry
}

// entries are ordered by key.
type entries = btree.BTree[item]

// tree holds entries ordered by key. Its snapshots are cheap: they share unchanged nodes with it.
type tree struct {
	entries *entries
	// shared is a snapshot of the current state, or nil.
	shared *snapshot
}

// snapshot is an immutable tree.
type snapshot struct {
	entries *entries
}

func newTree() *tree {
	return &tree{entries: btree.New(degree, func(a, b item) bool { return a.key < b.key })}
}

// set inserts an entry. It returns the previous entry, or nil.
func (t *tree) set(entry *storage.Entry) *storage.Entry {
	t.shared = nil
	before, _ := t.entries.ReplaceOrInsert(item{entry.Key, entry})
	return before.entry
}

// remove deletes an entry. It returns the previous entry, or nil.
func (t *tree) remove(key string) *storage.Entry {
	t.shared = nil
	before, _ := t.entries.Delete(item{key: key})
	return before.entry
}

func (t *tree) get(key string) *storage.Entry { return get(t.entries, key) }

// snapshot requires exclusive access to the tree unless shared is set.
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

// ascend visits the entries whose keys start with prefix, from a key on, until visit returns
// false.
func (s *snapshot) ascend(prefix, from string, visit func(*storage.Entry) bool) {
	s.entries.AscendGreaterOrEqual(item{key: max(prefix, from)}, func(found item) bool {
		return strings.HasPrefix(found.key, prefix) && visit(found.entry)
	})
}

// count returns the number of keys that start with prefix, from a key on.
func (s *snapshot) count(prefix, from string) int64 {
	n := int64(0)
	s.ascend(prefix, from, func(*storage.Entry) bool { n++; return true })
	return n
}

// undo turns the latest state into the state before events. It modifies latest.
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
