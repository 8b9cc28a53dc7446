package embedded

// history maps revisions to the bytes written up to them, so that a compaction can keep as much of
// the history as there is space for.
type history struct {
	step    int64 // bytes between two marks
	written int64 // bytes of all keys and values written
	marks   []mark
}

// mark is a revision and the number of bytes written up to it.
type mark struct{ revision, written int64 }

// maxMarks limits the number of marks; the oldest mark is dropped first.
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

// before returns the latest marked revision after which at least size bytes were written, or 0.
func (h *history) before(size int64) int64 {
	for i := len(h.marks) - 1; i >= 0; i-- {
		if h.written-h.marks[i].written >= size {
			return h.marks[i].revision
		}
	}
	return 0
}
