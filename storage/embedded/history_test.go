package embedded

import "testing"

func TestHistoryKeepsTheLatestWrites(t *testing.T) {
	h := history{step: 10}
	for revision := int64(1); revision <= 1000; revision++ {
		h.add(revision, 5)
	}
	for _, c := range []struct {
		rule       string
		kept, want int64
	}{
		{"nothing has to be kept", 0, 999},
		{"the latest 100 bytes are kept", 100, 979},
		{"more is kept where marks are missing", 106, 977},
		{"more than is remembered", 10_000, 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := h.before(c.kept); got != c.want {
				t.Errorf("got revision %d, want %d", got, c.want)
			}
		})
	}
	if len(h.marks) > maxMarks {
		t.Errorf("%d marks", len(h.marks))
	}
	if empty := (&history{step: 10}); empty.before(0) != 0 {
		t.Error("a revision without a write")
	}
}
