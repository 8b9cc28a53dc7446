package journal

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi/registry"
)

// record adds the writes of revisions to keys that alternate between /a and /b.
func record(j *Journal, revisions ...int64) {
	for _, revision := range revisions {
		key := []string{"/a", "/b"}[revision%2]
		j.end(key, j.begin(key), &Write{Revision: revision, Key: key})
	}
}

func revisionsOf(writes []*Write) []int64 {
	var revisions []int64
	for _, w := range writes {
		revisions = append(revisions, w.Revision)
	}
	return revisions
}

func TestWritesAreSortedByRevision(t *testing.T) {
	j := New(Config{})
	record(j, 2, 6, 4, 3, 8)
	if diff := cmp.Diff([]int64{2, 4, 6, 8}, revisionsOf(j.Writes("/a"))); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestJournalKeepsTheLastWrites(t *testing.T) {
	j := New(Config{MaxWrites: 100})
	for revision := range int64(1000) {
		record(j, revision)
	}
	got := revisionsOf(j.Writes("/b"))
	if len(got) != 50 || got[0] != 901 || got[49] != 999 {
		t.Errorf("%d writes: %v", len(got), got)
	}
}

func TestJournalIsBoundedInBytes(t *testing.T) {
	const limit = 100_000
	j := New(Config{MaxBytes: limit})
	long := string(make([]byte, 1000))
	for i := range 1000 {
		j.end("/a", j.begin("/a"), &Write{Revision: int64(i), Key: "/a", Origin: registry.Origin{UserAgent: long}})
		if j.bytes > limit {
			t.Fatalf("%d bytes after %d writes", j.bytes, i+1)
		}
	}
	if kept := len(j.Writes("/a")); kept < 50 || kept > 100 {
		t.Errorf("%d writes are kept", kept)
	}
}

func TestAwaitReturnsWhenTheWriteIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := New(Config{})
		first, second := j.begin("/a"), j.begin("/a")
		waited := make(chan struct{})
		go func() { // ends with the test
			j.Await(t.Context(), "/a", 7)
			close(waited)
		}()
		synctest.Wait()
		j.end("/a", first, &Write{Revision: 6, Key: "/a"})
		synctest.Wait()
		select {
		case <-waited:
			t.Error("returned after another revision")
		default:
		}
		j.end("/a", second, &Write{Revision: 7, Key: "/a"})
		<-waited
	})
}

// Another server wrote the revision, and writes of this server follow each other without a pause.
func TestAwaitDoesNotWaitForNewWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := New(Config{})
		number := j.begin("/a")
		waited := make(chan struct{})
		go func() { // ends with the test
			j.Await(t.Context(), "/a", 7)
			close(waited)
		}()
		synctest.Wait()
		next := j.begin("/a")
		j.end("/a", number, nil)
		synctest.Wait()
		select {
		case <-waited:
		default:
			t.Error("waits for a write that has begun later")
		}
		j.end("/a", next, nil)
		<-waited
	})
}

func TestAwaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := New(Config{})
		j.Await(t.Context(), "/a", 7) // nothing is in progress
		j.begin("/a")
		begin := time.Now()
		j.Await(t.Context(), "/a", 7)
		if waited := time.Since(begin); waited != awaitTimeout {
			t.Errorf("waited %v for a write that does not end", waited)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		j.Await(ctx, "/a", 7)
	})
}

func BenchmarkRecord(b *testing.B) {
	j := New(Config{})
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprintf("/pods/default/pod-%d", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		key := keys[i%len(keys)]
		j.end(key, j.begin(key), &Write{Revision: int64(i), Key: key})
	}
}
