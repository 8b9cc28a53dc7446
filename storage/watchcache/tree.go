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

// tree holds entries ordered by key. Snapshots of it are cheap and share what
// does not change.
type tree struct {
	entries *btree.BTree[*storage.Entry]
	// shared is a snapshot that nothing was written after; nil: none is there.
	shared *snapshot
}

// snapshot is a tree that does not change any more.
type snapshot struct {
	entries *btree.BTree[*storage.Entry]
}

func newTree() *tree {
	return &tree{entries: btree.New(degree, func(a, b *storage.Entry) bool { return a.Key < b.Key })}
}

// set returns the entry that was there, nil if none was.
func (t *tree) set(entry *storage.Entry) *storage.Entry {
	t.shared = nil
	before, _ := t.entries.ReplaceOrInsert(entry)
	return before
}

// remove returns the entry that was there, nil if none was.
func (t *tree) remove(key string) *storage.Entry {
	t.shared = nil
	before, _ := t.entries.Delete(&storage.Entry{Key: key})
	return before
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

func get(entries *btree.BTree[*storage.Entry], key string) *storage.Entry {
	entry, _ := entries.Get(&storage.Entry{Key: key})
	return entry
}

// ascend visits the entries whose keys begin with prefix, from a key on, until
// visit returns false.
func (s *snapshot) ascend(prefix, from string, visit func(*storage.Entry) bool) {
	s.entries.AscendGreaterOrEqual(&storage.Entry{Key: max(prefix, from)}, func(entry *storage.Entry) bool {
		return strings.HasPrefix(entry.Key, prefix) && visit(entry)
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
func undo(entries *btree.BTree[*storage.Entry], events []*event) *snapshot {
	for _, e := range slices.Backward(events) {
		if e.before != nil {
			entries.ReplaceOrInsert(e.before)
		} else {
			entries.Delete(&storage.Entry{Key: e.key})
		}
	}
	return &snapshot{entries: entries}
}
