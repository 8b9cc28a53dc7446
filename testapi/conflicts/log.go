package conflicts

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/testapi/journal"
)

const (
	// maxConflicts limits the conflicts that are kept, maxChanges the changes that a watch can
	// resume from.
	maxConflicts = 512
	maxChanges   = 2048
)

// Log keeps the last conflicts and follows whether their losers succeed. Safe for concurrent use.
type Log struct {
	// open is the number of conflicts without a retry.
	open atomic.Int64

	mu sync.Mutex // guards the fields below
	// records are the kept conflicts, the oldest first.
	records []*record
	// number counts all conflicts; revision is 1 at first, and one more after each change.
	number, revision int64
	// changes are the last changes.
	changes []change
	// changed is closed and replaced with each change.
	changed chan struct{}
}

// record is a conflict of the log. The Conflict is replaced, never modified.
type record struct {
	*Conflict
	revision int64
	key      string
	writer   journal.Writer
	previous *record // the lost try before this one, nil for the first one
}

// change is an event of the log.
type change struct {
	revision int64
	event    watch.EventType
	conflict *Conflict
}

// NewLog returns an empty log. It starts nothing.
func NewLog() *Log { return &Log{revision: 1, changed: make(chan struct{})} }

// List returns the kept conflicts, the oldest first.
func (l *Log) List() []Conflict {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]Conflict, len(l.records))
	for i, r := range l.records {
		list[i] = *r.Conflict
	}
	return list
}

// add records a conflict of a writer. If the writer has lost an earlier try of the write, the
// conflict continues it.
func (l *Log) add(c *Conflict, key string, writer journal.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &record{Conflict: c, key: key, writer: writer}
	if r.previous = l.lost(key, writer, c.Base); r.previous != nil {
		c.Attempt = r.previous.Attempt + 1
		l.retried(r.previous, 0)
	}
	l.number++
	c.Name = fmt.Sprintf("%s-%d", c.Object.Name, l.number)
	l.open.Add(1)
	l.records = append(l.records, r)
	l.publish(watch.Added, r)
	if len(l.records) > maxConflicts {
		l.evict()
	}
}

// Observe marks the conflicts that a write resolves. It is a journal.Config.Observe.
func (l *Log) Observe(w *journal.Write) {
	if l.open.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.lost(w.Key, w.Writer(), w.Base)
	if lost == nil {
		return
	}
	tries := lost.Attempt + 1
	for r := lost; r != nil; r = r.previous {
		l.retried(r, tries)
	}
}

// lost returns the latest lost try that a write based on a revision repeats, nil if there is none.
// The base of a retry is newer than the base of the lost try: otherwise it is another write of a
// client with the same name. It requires mu.
func (l *Log) lost(key string, writer journal.Writer, base int64) *record {
	for _, r := range slices.Backward(l.records) {
		if r.key == key && r.writer == writer && !r.Retried && base > r.Base {
			return r
		}
	}
	return nil
}

// retried replaces a conflict by one that was retried, and succeeded after a number of tries, 0 if
// it has not. It requires mu.
func (l *Log) retried(r *record, succeededAfter int) {
	if !r.Retried {
		l.open.Add(-1)
	}
	next := *r.Conflict
	next.Retried, next.SucceededAfter = true, succeededAfter
	r.Conflict = &next
	if slices.Contains(l.records, r) { // it may have been evicted
		l.publish(watch.Modified, r)
	}
}

// evict removes the oldest conflict. It requires mu.
func (l *Log) evict() {
	oldest := l.records[0]
	l.records = slices.Delete(l.records, 0, 1)
	if !oldest.Retried {
		l.open.Add(-1)
	}
	for _, r := range l.records {
		if r.previous == oldest {
			r.previous = nil // its memory is released
		}
	}
	l.publish(watch.Deleted, oldest)
}

// publish appends a change. It requires mu.
func (l *Log) publish(event watch.EventType, r *record) {
	l.revision++
	r.revision = l.revision
	if len(l.changes) == maxChanges {
		l.changes = slices.Delete(l.changes, 0, maxChanges/4)
	}
	l.changes = append(l.changes, change{l.revision, event, r.Conflict})
	close(l.changed)
	l.changed = make(chan struct{})
}

// State implements registry.Feed.
func (l *Log) State() ([]*storage.Entry, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries := make([]*storage.Entry, len(l.records))
	for i, r := range l.records {
		entries[i] = entryOf(r.Conflict, r.revision)
	}
	return entries, l.revision
}

// after returns the changes after a revision and a channel that is closed with the next one. The
// error is storage.ErrCompacted if the log no longer has all of them.
func (l *Log) after(revision int64) ([]change, <-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.changes) > 0 && revision < l.changes[0].revision-1 || revision > l.revision {
		return nil, nil, storage.ErrCompacted
	}
	i, _ := slices.BinarySearchFunc(l.changes, revision+1, func(c change, r int64) int { return int(c.revision - r) })
	return slices.Clone(l.changes[i:]), l.changed, nil
}
