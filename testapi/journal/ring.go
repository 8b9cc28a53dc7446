package journal

import (
	"cmp"
	"slices"
)

// writeOverhead is the approximate size of a Write without its texts.
const writeOverhead = 256

// size returns the approximate memory of a write.
func (w *Write) size() int {
	return writeOverhead + len(w.Key) + len(w.User) + len(w.UserAgent) + len(w.FieldManager) + len(w.ResourceVersion) + len(w.RequestID)
}

// add appends a write and drops the oldest ones beyond the limits. It requires mu.
func (j *Journal) add(w *Write) {
	for j.kept > 0 && (j.kept == j.config.MaxWrites || j.bytes+w.size() > j.config.MaxBytes) {
		j.drop()
	}
	if j.kept == len(j.writes) && len(j.writes) < j.config.MaxWrites {
		j.grow()
	}
	j.writes[(j.oldest+j.kept)%len(j.writes)] = w
	j.kept++
	j.bytes += w.size()
}

// grow doubles the ring. It requires mu.
func (j *Journal) grow() {
	larger := make([]*Write, min(max(2*len(j.writes), 64), j.config.MaxWrites))
	i := 0
	for w := range j.all {
		larger[i] = w
		i++
	}
	j.writes, j.oldest = larger, 0
}

// drop removes the oldest write. It requires mu.
func (j *Journal) drop() {
	j.bytes -= j.writes[j.oldest].size()
	j.writes[j.oldest] = nil
	j.oldest = (j.oldest + 1) % len(j.writes)
	j.kept--
}

// all yields the writes, the oldest first. It requires mu.
func (j *Journal) all(yield func(*Write) bool) {
	for i := range j.kept {
		if !yield(j.writes[(j.oldest+i)%len(j.writes)]) {
			return
		}
	}
}

// latest yields all writes, in the reverse order of their records. It requires mu.
func (j *Journal) latest(yield func(*Write) bool) {
	for i := j.kept - 1; i >= 0; i-- {
		if !yield(j.writes[(j.oldest+i)%len(j.writes)]) {
			return
		}
	}
}

// has reports whether the journal has the write of a revision. It requires mu.
func (j *Journal) has(key string, revision int64) bool {
	for w := range j.latest {
		if w.Revision == revision && w.Key == key {
			return true
		}
	}
	return false
}

// sortByRevision sorts writes. Concurrent writes may be recorded in another order than committed.
func sortByRevision(writes []*Write) {
	slices.SortFunc(writes, func(a, b *Write) int { return cmp.Compare(a.Revision, b.Revision) })
}
