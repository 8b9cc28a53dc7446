package api

import (
	"testing"
	"testing/synctest"
	"time"
)

// A watcher learns about every minute how far the store has come, and once more
// shortly before the end of its watch.
func TestBookmarksComeInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		const timeout = 150 * time.Second
		b := newBookmarks(true, timeout)
		defer b.stop()
		var at []time.Duration
		for i := range 3 {
			b.progress(int64(10 + i))
			<-b.due()
			at = append(at, time.Since(started))
			if revision, ok := b.take(); !ok || revision != int64(10+i) {
				t.Errorf("bookmark %d tells %d, %v", i, revision, ok)
			}
		}
		if at[0] > time.Minute || at[0] < 50*time.Second {
			t.Errorf("the first bookmark comes after %v", at[0])
		}
		if at[2] != timeout-bookmarkBeforeEnd {
			t.Errorf("the last bookmark comes after %v", at[2])
		}
	})
}

// A bookmark never leads back before what was delivered.
func TestBookmarksDoNotGoBack(t *testing.T) {
	b := newBookmarks(true, time.Hour)
	defer b.stop()
	if _, ok := b.take(); ok {
		t.Error("a bookmark before the store told how far it is")
	}
	b.progress(5)
	b.delivered(7)
	if revision, ok := b.take(); ok {
		t.Errorf("a bookmark at %d after an event at 7", revision)
	}
	b.progress(9)
	b.progress(8)
	if revision, ok := b.take(); !ok || revision != 9 {
		t.Errorf("got %d, %v", revision, ok)
	}
}

func TestNoBookmarksForWhoWantsNone(t *testing.T) {
	b := newBookmarks(false, time.Hour)
	defer b.stop()
	if b.due() != nil {
		t.Error("a bookmark is due")
	}
}
