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

// The in-process client of etcd deadlocks if many watches that share a stream end while events are
// sent.
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

func TestSlowConsumerEndsItsWatchAndCanResume(t *testing.T) {
	s := newStore(t, Config{Client: startEtcd(t), LocalReads: true, WatchBacklog: 1 << 10})
	start := create(t, s, 0).Revision
	w := startWatch(t, s, storage.WatchOptions{ResourceVersion: versioner.Format(start)})
	const burst = 100 // in one revision, which etcd sends in one response
	puts := make([]clientv3.Op, burst)
	for i := range puts {
		puts[i] = clientv3.OpPut("/registry"+configMapKey(i+1), "")
	}
	if _, err := s.client.Txn(t.Context()).Then(puts...).Commit(); err != nil {
		t.Fatal(err)
	}
	next, seen := 1, start
	for e := range w.Events() {
		if e.Type != watch.Added || e.Entry.Key != configMapKey(next) {
			t.Fatalf("got %s %v, want %s", e.Type, e.Entry, configMapKey(next))
		}
		next, seen = next+1, e.Revision
	}
	if next != burst+1 {
		t.Errorf("the watch ended after %d events, before %d were delivered", next-1, burst)
	}
	resumed := startWatch(t, s, storage.WatchOptions{ResourceVersion: versioner.Format(seen)})
	want := create(t, s, burst+1).Revision
	if e := <-resumed.Events(); e.Revision != want {
		t.Errorf("got %v, want revision %d", e, want)
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
	b := backlog{limit: 10}
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
	if !b.overflowed() {
		t.Error("the backlog has not overflowed")
	}
	for !b.empty() {
		pop()
	}
	if next != events || b.size != 0 || b.overflowed() {
		t.Errorf("%d events, size %d", next, b.size)
	}
}
