package api

import (
	"math"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"github.com/miniapi/miniapi/api/lifecycle"
)

// The connection of a client that does not read its response is closed after the time of the
// request: a later request with less time ends before one with the default time.
func TestUnreadResponsesEndWithTheirTime(t *testing.T) {
	s, server := startPodServer(t, 1500, nil)
	const short = pods + "?timeout=1s"
	unread(t, server, pods, "application/json")
	unread(t, server, short, "application/json")
	isOpen := func(open []lifecycle.OpenRequest, uri string) bool {
		return slices.ContainsFunc(open, func(r lifecycle.OpenRequest) bool { return r.URI == uri })
	}
	for open := s.OpenRequests(); isOpen(open, short); open = s.OpenRequests() {
		if !isOpen(open, pods) {
			t.Fatal("the request with the default time ended first")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestDurationOfWatches(t *testing.T) {
	for name, seconds := range map[string]*int64{"without a timeout": nil, "with a timeout of 0": new(int64(0))} {
		for range 1000 {
			if got := watchTimeout(internalversion.ListOptions{TimeoutSeconds: seconds}); got < 30*time.Minute || got >= time.Hour {
				t.Fatalf("%s: %v is not between 30 and 60 minutes", name, got)
			}
		}
	}
	for seconds, want := range map[int64]time.Duration{7: 7 * time.Second, math.MaxInt64: math.MaxInt64 / time.Second * time.Second} {
		if got := watchTimeout(internalversion.ListOptions{TimeoutSeconds: &seconds}); got != want {
			t.Errorf("%d seconds: got %v", seconds, got)
		}
	}
}
