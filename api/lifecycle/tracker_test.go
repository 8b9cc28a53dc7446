package lifecycle_test

import (
	"net/http/httptest"
	"testing"

	"github.com/miniapi/miniapi/api/lifecycle"
)

// BenchmarkTracker measures the tracking of a request, alone and while Settle waits.
func BenchmarkTracker(b *testing.B) {
	r := httptest.NewRequest("GET", "/api/v1/namespaces/default/configmaps/a", nil)
	for name, wait := range map[string]func(*lifecycle.Tracker){
		"idle": func(*lifecycle.Tracker) {}, "awaited": func(t *lifecycle.Tracker) { t.Changed() },
	} {
		b.Run(name, func(b *testing.B) {
			tracker := lifecycle.NewTracker()
			b.ReportAllocs()
			for b.Loop() {
				wait(tracker)
				tracker.Remove(tracker.Add(r))
			}
		})
	}
}
