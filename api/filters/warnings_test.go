package filters

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// All warnings together are at most 4 KiB long. If they are longer, each is truncated.
func TestWarningsAreLimited(t *testing.T) {
	header := func(texts ...string) []string {
		h := http.Header{}
		addWarnings(h, texts)
		return h.Values("Warning")
	}
	long := strings.Repeat("w", 1000)
	if got := header(long, "short"); len(got) != 2 || !strings.Contains(got[0], long) {
		t.Errorf("short warnings are truncated: %q", got)
	}
	many := make([]string, 30)
	for i := range many {
		many[i] = long
	}
	got := header(many...)
	if len(got) != maxWarningsTotal/maxWarningTruncated {
		t.Errorf("%d of %d warnings are sent", len(got), len(many))
	}
	umlauts := header(append(many, "x"+strings.Repeat("ü", 1000))[len(many)-5:]...)
	if want := `299 - "x` + strings.Repeat("ü", maxWarningTruncated-1) + `"`; !slices.Contains(umlauts, want) {
		t.Errorf("a character is split: %q", umlauts)
	}
	for _, warning := range got {
		if want := `299 - "` + long[:maxWarningTruncated] + `"`; warning != want {
			t.Errorf("got %s", warning)
		}
	}
}
