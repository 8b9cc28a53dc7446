package api

import (
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/versioner"
)

const (
	// bookmarkInterval is the approximate time between two bookmarks of a watch.
	bookmarkInterval = time.Minute
	// bookmarkBeforeEnd is the time between the last bookmark and the end of a watch. The client
	// resumes from this bookmark.
	bookmarkBeforeEnd = 2 * time.Second
)

// bookmarks schedules the bookmarks of a watch. The store reports its progress more often than
// clients need bookmarks.
type bookmarks struct {
	timer *time.Timer // nil: the client did not ask for bookmarks
	ends  time.Time   // of the watch
	// delivered is the revision of the last event, progress the last revision that the store
	// reported.
	//
	// Invariant: a bookmark has at least the revision of the last event.
	delivered, progress int64
}

// newBookmarks returns the schedule of a watch that ends after timeout.
func newBookmarks(allowed bool, timeout time.Duration) *bookmarks {
	b := &bookmarks{ends: time.Now().Add(timeout)}
	if allowed {
		b.timer = time.NewTimer(b.wait())
	}
	return b
}

// wait returns the time until the next bookmark: the interval minus a random part, which spreads
// the bookmarks of many watches, or the time until bookmarkBeforeEnd.
func (b *bookmarks) wait() time.Duration {
	regular := bookmarkInterval - rand.N(bookmarkInterval/10)
	if last := time.Until(b.ends) - bookmarkBeforeEnd; last > 0 && last < regular {
		return last
	}
	return regular
}

// next returns a channel that receives at the time of the next bookmark, nil if there are none.
func (b *bookmarks) next() <-chan time.Time {
	if b.timer == nil {
		return nil
	}
	return b.timer.C
}

// take returns the revision of a bookmark and schedules the next one. ok is false if there is no
// bookmark to send.
func (b *bookmarks) take() (revision int64, ok bool) {
	b.timer.Reset(b.wait())
	return b.progress, b.progress > 0 && b.progress >= b.delivered
}

// recordEvent records the revision of a delivered event.
func (b *bookmarks) recordEvent(revision int64) { b.delivered = max(b.delivered, revision) }

// recordProgress records a revision that the store reported.
func (b *bookmarks) recordProgress(revision int64) { b.progress = max(b.progress, revision) }

func (b *bookmarks) stop() {
	if b.timer != nil {
		b.timer.Stop()
	}
}

// bookmark returns the object of a bookmark event in the hub version, which has no content but the
// resourceVersion.
func (c *call) bookmark(revision int64, initialEventsEnd bool) (runtime.Object, error) {
	obj := c.version.New()
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	if err := (versioner.APIObjectVersioner{}).UpdateObject(obj, revision); err != nil {
		return nil, err
	}
	if initialEventsEnd {
		m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	if c.version.ToHub == nil {
		return obj, nil
	}
	return c.version.ToHub(obj)
}
