package request

import (
	"net/http/httptest"
	"testing"
	"time"
)

func TestTimeout(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"": time.Minute, "?timeout=": time.Minute, "?timeout=2s": 2 * time.Second,
		"?timeout=1h": time.Minute, "?timeout=0s": time.Minute, "?timeout=-1s": time.Minute,
	} {
		if got, err := Timeout(httptest.NewRequest("GET", "/"+query, nil)); got != want || err != nil {
			t.Errorf("%q: got %v, %v, want %v", query, got, err, want)
		}
	}
	if _, err := Timeout(httptest.NewRequest("GET", "/?timeout=soon", nil)); err == nil {
		t.Error("an invalid timeout is accepted")
	}
}
