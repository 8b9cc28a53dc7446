package embedded

import "testing"

func TestHistoryBefore(t *testing.T) {
	h := history{step: 10}
	for revision := int64(1); revision <= 1000; revision++ {
		h.add(revision, 5)
	}
	for _, c := range []struct {
		rule       string
		kept, want int64
	}{
		{"0 bytes return the last mark", 0, 999},
		{"at least the latest 100 bytes are kept", 100, 979},
		{"a size between two marks is rounded up", 106, 977},
		{"more bytes than the marks cover return 0", 10_000, 0},
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
