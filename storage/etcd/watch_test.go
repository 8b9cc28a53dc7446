package etcd

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

func startWatch(t *testing.T, s *resourceStore, opts storage.WatchOptions) *watcher {
	t.Helper()
	opts.Recursive = true
	w, err := s.Watch(t.Context(), "/configmaps/", opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w.(*watcher)
}

// The in-process client of etcd deadlocked if many watches that shared a stream ended while events
// were sent.
func TestManyWatchesStopAtOnce(t *testing.T) {
	s := newStore(t, Config{})
	start := versioner.Format(create(t, s, 0).Revision)
	for round := range 5 {
		watchers := make([]*watcher, 200)
		for i := range watchers {
			watchers[i] = startWatch(t, s, storage.WatchOptions{ResourceVersion: start})
		}
		create(t, s, round+1)
		for _, w := range watchers {
			<-w.Events()
		}
		var group sync.WaitGroup
		group.Go(func() { create(t, s, round+100) })
		for _, w := range watchers {
			group.Go(w.Stop)
		}
		group.Wait()
	}
}

// TestSlowConsumersMissNoEvents checks watches whose backlog is full after each response of etcd.
func TestSlowConsumersMissNoEvents(t *testing.T) {
	s := newStore(t, Config{Client: startEtcd(t), LocalReads: true, WatchBacklog: 1 << 10})
	start := versioner.Format(create(t, s, 0).Revision)
	watchers := make([]*watcher, 3)
	for i := range watchers {
		watchers[i] = startWatch(t, s, storage.WatchOptions{ResourceVersion: start})
	}
	const burst, bursts = 60, 5 // a burst is one revision, which etcd sends in one response
	for b := range bursts {
		puts := make([]clientv3.Op, burst)
		for i := range puts {
			puts[i] = clientv3.OpPut("/registry"+configMapKey(b*burst+i+1), "")
		}
		if _, err := s.client.Txn(t.Context()).Then(puts...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range watchers {
		for i := range burst * bursts {
			if e := <-w.Events(); e.Type != watch.Added || e.Entry.Key != configMapKey(i+1) {
				t.Fatalf("got %s %v, want %s", e.Type, e.Entry, configMapKey(i+1))
			}
		}
		w.Stop()
	}
	if used := s.backlogs.used.Load(); used != 0 {
		t.Errorf("%d bytes are still counted as queued", used)
	}
}

func TestIdleWatchReceivesProgress(t *testing.T) {
	s := newStore(t, Config{Client: startEtcd(t), LocalReads: true, ProgressInterval: time.Millisecond})
	start := create(t, s, 0).Revision
	w, err := s.Watch(t.Context(), "/elsewhere/", storage.WatchOptions{
		Recursive: true, ProgressNotify: true, ResourceVersion: versioner.Format(start),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for i := range 3 {
		want := create(t, s, i+1).Revision
		e := <-w.Events()
		for ; e.Revision < want; e = <-w.Events() {
		}
		if e.Type != watch.Bookmark || e.Revision != want {
			t.Errorf("got %s of %d, want a bookmark of %d", e.Type, e.Revision, want)
		}
	}
}

// A watch can start at a deletion whose revision was compacted, but the deleted value is lost.
func TestWatchEndsIfThePreviousValueIsCompacted(t *testing.T) {
	s := newStore(t, Config{})
	create(t, s, 0)
	deleted, err := s.Delete(t.Context(), configMapKey(0), storage.DeleteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Compact(t.Context(), deleted.Revision); err != nil {
		t.Fatal(err)
	}
	w := startWatch(t, s, storage.WatchOptions{ResourceVersion: versioner.Format(deleted.Revision - 1)})
	e := <-w.Events()
	if e.Type != watch.Error || !errors.Is(e.Err, storage.ErrCompacted) {
		t.Errorf("got %s, %v", e.Type, e.Err)
	}
	if e, open := <-w.Events(); open {
		t.Errorf("%s after the end", e.Type)
	}
}

func TestWatchThatEndsBeforeEtcdAnswers(t *testing.T) {
	s := newStore(t, Config{})
	create(t, s, 0)
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		w, err := s.Watch(ctx, "/configmaps/", storage.WatchOptions{Recursive: true, ProgressNotify: true})
		if err != nil {
			t.Fatal(err)
		}
		go cancel() // ends before w.Stop returns
		w.Stop()
		<-ctx.Done()
	}
}

func TestBacklogKeepsOrderAndSize(t *testing.T) {
	limit := &backlogLimit{bytes: 10 * backlogShare}
	b := backlog{limit: limit}
	out := make(chan storage.Event)
	if to, _ := b.head(out); to != nil {
		t.Error("an empty backlog has an event to send")
	}
	const events = 5000
	var next int64
	pop := func() {
		to, e := b.head(out)
		if to == nil || e.Revision != next {
			t.Fatalf("got %d, want %d", e.Revision, next)
		}
		b.pop()
		next++
	}
	for i := range int64(events) {
		b.push(storage.Event{Revision: i}, 1)
		if i%3 == 2 {
			pop()
		}
	}
	if !b.full() {
		t.Error("the backlog is not full")
	}
	other := backlog{limit: limit}
	if other.push(storage.Event{}, 1); !other.full() {
		t.Error("the backlog of another watch is not full, although the watches exceed the limit together")
	}
	other.drop()
	for !b.empty() {
		pop()
	}
	if next != events || b.size != 0 || limit.used.Load() != 0 || b.full() {
		t.Errorf("%d events, size %d, %d bytes of all watches", next, b.size, limit.used.Load())
	}
}
