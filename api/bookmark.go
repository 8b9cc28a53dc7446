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
	// bookmarkEvery is about how often a watcher that wants bookmarks gets one.
	bookmarkEvery = time.Minute
	// bookmarkBeforeEnd is how long before the end of a watch the last one is
	// sent, so that the client resumes from there.
	bookmarkBeforeEnd = 2 * time.Second
)

// bookmarks decides when to tell a watcher how far it has come. The store tells
// that more often than a client needs to know.
type bookmarks struct {
	wanted bool
	timer  *time.Timer
	ends   time.Time
	// seen is the revision of the last event; reached is how far the store has
	// come. A bookmark must not lead the client back before seen.
	seen, reached int64
}

func newBookmarks(wanted bool, timeout time.Duration) *bookmarks {
	b := &bookmarks{wanted: wanted, ends: time.Now().Add(timeout)}
	if wanted {
		b.timer = time.NewTimer(b.wait())
	}
	return b
}

// wait is how long to wait for the next bookmark: a minute, a little less for
// each watcher so that not all come at once, or until shortly before the end.
func (b *bookmarks) wait() time.Duration {
	regular := bookmarkEvery - rand.N(bookmarkEvery/10)
	if last := time.Until(b.ends) - bookmarkBeforeEnd; last > 0 && last < regular {
		return last
	}
	return regular
}

// due receives when it is time; it never does for a client that wants none.
func (b *bookmarks) due() <-chan time.Time {
	if b.timer == nil {
		return nil
	}
	return b.timer.C
}

// take returns the revision to tell, if there is one, and waits anew.
func (b *bookmarks) take() (int64, bool) {
	b.timer.Reset(b.wait())
	return b.reached, b.reached > 0 && b.reached >= b.seen
}

func (b *bookmarks) delivered(revision int64) { b.seen = max(b.seen, revision) }

func (b *bookmarks) progress(revision int64) { b.reached = max(b.reached, revision) }

func (b *bookmarks) stop() {
	if b.timer != nil {
		b.timer.Stop()
	}
}

// bookmark makes an object of the hub version that carries nothing but how far
// the watch has come.
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
