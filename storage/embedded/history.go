package embedded

// history remembers which revisions the last writes made, so that a compaction
// can keep as much of the history as there is room for.
type history struct {
	step    int64 // bytes between two marks
	written int64 // bytes of keys and values so far
	marks   []mark
}

// mark is a revision and the bytes that were written up to it.
type mark struct{ revision, written int64 }

// maxMarks bounds the marks; the oldest go first.
const maxMarks = 64

func (h *history) add(revision, size int64) {
	h.written += size
	if n := len(h.marks); n > 0 && h.written-h.marks[n-1].written < h.step {
		return
	}
	if len(h.marks) == maxMarks {
		h.marks = append(h.marks[:0], h.marks[1:]...)
	}
	h.marks = append(h.marks, mark{revision, h.written})
}

// before returns the latest known revision after which at least size bytes were
// written, 0 if there is none.
func (h *history) before(size int64) int64 {
	for i := len(h.marks) - 1; i >= 0; i-- {
		if h.written-h.marks[i].written >= size {
			return h.marks[i].revision
		}
	}
	return 0
}
