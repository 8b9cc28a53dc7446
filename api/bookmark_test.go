package api

import (
	"testing"
	"testing/synctest"
	"time"
)

// A watch sends a bookmark about every minute, and one shortly before its end.
func TestBookmarkIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		const timeout = 150 * time.Second
		b := newBookmarks(true, timeout)
		defer b.stop()
		var at []time.Duration
		for i := range 3 {
			b.recordProgress(int64(10 + i))
			<-b.next()
			at = append(at, time.Since(started))
			if revision, ok := b.take(); !ok || revision != int64(10+i) {
				t.Errorf("bookmark %d has revision %d, %v", i, revision, ok)
			}
		}
		if at[0] > time.Minute || at[0] < 50*time.Second {
			t.Errorf("the first bookmark is sent after %v", at[0])
		}
		if at[2] != timeout-bookmarkBeforeEnd {
			t.Errorf("the last bookmark is sent after %v", at[2])
		}
	})
}

func TestBookmarkIsNotOlderThanLastEvent(t *testing.T) {
	b := newBookmarks(true, time.Hour)
	defer b.stop()
	if _, ok := b.take(); ok {
		t.Error("a bookmark before the store reported a revision")
	}
	b.recordProgress(5)
	b.recordEvent(7)
	if revision, ok := b.take(); ok {
		t.Errorf("a bookmark at %d after an event at 7", revision)
	}
	b.recordProgress(9)
	b.recordProgress(8)
	if revision, ok := b.take(); !ok || revision != 9 {
		t.Errorf("got %d, %v", revision, ok)
	}
}

func TestNoBookmarksUnlessAllowed(t *testing.T) {
	b := newBookmarks(false, time.Hour)
	defer b.stop()
	if b.next() != nil {
		t.Error("a bookmark is scheduled")
	}
}
