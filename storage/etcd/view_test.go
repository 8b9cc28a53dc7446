package etcd

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// viewOf returns a store over a view of a client.
func viewOf(t *testing.T, client *clientv3.Client, revision int64) *resourceStore {
	t.Helper()
	return newStore(t, Config{Client: View(client, revision), LocalReads: true})
}

func names(page *storage.Page) []string {
	var names []string
	for _, entry := range page.Entries {
		names = append(names, fmt.Sprintf("%s@%d", entry.Key, entry.Revision))
	}
	return names
}

func TestViewRejectsAllWrites(t *testing.T) {
	s := newStore(t, Config{})
	created := create(t, s, 1)
	view := View(s.client, 0)
	ctx := t.Context()
	for name, write := range map[string]func() error{
		"put":        func() error { _, err := view.Put(ctx, "/a", "b"); return err },
		"delete":     func() error { _, err := view.Delete(ctx, "/a"); return err },
		"put by do":  func() error { _, err := view.Do(ctx, clientv3.OpPut("/a", "b")); return err },
		"txn by do":  func() error { _, err := view.Do(ctx, clientv3.OpTxn(nil, nil, nil)); return err },
		"txn":        func() error { _, err := view.Txn(ctx).If().Then(clientv3.OpPut("/a", "b")).Else().Commit(); return err },
		"compact":    func() error { _, err := view.Compact(ctx, created.Revision); return err },
		"grant":      func() error { _, err := view.Grant(ctx, 60); return err },
		"revoke":     func() error { _, err := view.Revoke(ctx, 1); return err },
		"keep alive": func() error { _, err := view.KeepAlive(ctx, 1); return err },
		"keep once":  func() error { _, err := view.KeepAliveOnce(ctx, 1); return err },
	} {
		if err := write(); !errors.Is(err, errReadOnly) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	_, err := viewOf(t, s.client, 0).Create(ctx, configMapKey(2), configMap("2"), storage.CreateOptions{})
	if !errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrUnknownOutcome) {
		t.Errorf("create: %v", err)
	}
	if revision, err := s.CurrentRevision(ctx); err != nil || revision != created.Revision {
		t.Errorf("revision %d after the writes, %v, want %d", revision, err, created.Revision)
	}
}

func TestViewOfTheLatestRevisionFollowsWrites(t *testing.T) {
	s := newStore(t, Config{})
	view := viewOf(t, s.client, 0)
	watcher, err := view.Watch(t.Context(), "/configmaps", storage.WatchOptions{Recursive: true, ResourceVersion: "1"})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	created := create(t, s, 1)
	if event := <-watcher.Events(); event.Type != watch.Added || event.Revision != created.Revision {
		t.Errorf("event %+v", event)
	}
	if _, err := view.Get(t.Context(), configMapKey(1), storage.GetOptions{}); err != nil {
		t.Error(err)
	}
}

func TestViewAtARevisionIgnoresLaterWrites(t *testing.T) {
	s := newStore(t, Config{})
	first, second := create(t, s, 1), create(t, s, 2)
	edit(t, s, 1)
	if _, err := s.Delete(t.Context(), configMapKey(2), storage.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	view := viewOf(t, s.client, second.Revision)
	page, err := view.GetList(t.Context(), "/configmaps", storage.ListOptions{Recursive: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{fmt.Sprintf("%s@%d", configMapKey(1), first.Revision), fmt.Sprintf("%s@%d", configMapKey(2), second.Revision)}
	if diff := cmp.Diff(want, names(page)); diff != "" || page.Revision != second.Revision {
		t.Errorf("list at %d: %s", page.Revision, diff)
	}
	if n, err := view.Count(t.Context(), "/configmaps"); err != nil || n != 2 {
		t.Errorf("count %d, %v", n, err)
	}
	if revision, err := view.CurrentRevision(t.Context()); err != nil || revision != second.Revision {
		t.Errorf("current revision %d, %v", revision, err)
	}
	history, err := view.History(t.Context(), configMapKey(2))
	if err != nil || len(history.Versions) != 1 {
		t.Errorf("history %+v, %v", history, err)
	}
	later := versioner.Format(second.Revision + 1)
	if _, err := view.Get(t.Context(), configMapKey(1), storage.GetOptions{ResourceVersion: later}); !errors.Is(err, storage.ErrFutureRevision) {
		t.Errorf("get at a later revision: %v", err)
	}
	_, err = view.GetList(t.Context(), "/configmaps", storage.ListOptions{Recursive: true, ResourceVersion: later, ResourceVersionMatch: "Exact"})
	if !errors.Is(err, storage.ErrFutureRevision) {
		t.Errorf("list at a later revision: %v", err)
	}
}

// The log of a view ends at its revision: later writes appear as progress up to that revision.
func TestViewAtARevisionWatchesUpToIt(t *testing.T) {
	s := newStore(t, Config{})
	first, second := create(t, s, 1), create(t, s, 2)
	create(t, s, 3)
	view := viewOf(t, s.client, second.Revision)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	requests := make(chan struct{}, 1)
	var keys []string
	progress := 0
	err := view.Follow(ctx, first.Revision, requests, func(changes []storage.Change, upTo int64) {
		for _, change := range changes {
			keys = append(keys, change.Key)
		}
		if upTo > second.Revision {
			t.Errorf("report up to %d", upTo)
		}
		switch progress++; progress {
		case 1:
			create(t, s, 4)
			requests <- struct{}{}
		case 3: // of the write, and of the request
			cancel()
		}
	})
	if diff := cmp.Diff([]string{configMapKey(2)}, keys); err != nil || diff != "" {
		t.Errorf("error %v, changes %s", err, diff)
	}
}

func TestRevisionsOfAView(t *testing.T) {
	s := newStore(t, Config{})
	first := create(t, s, 1).Revision
	last := create(t, s, 2).Revision
	for revision, want := range map[int64]int64{0: last, first: first} {
		view := viewOf(t, s.client, revision)
		if oldest, current, err := view.Revisions(t.Context()); err != nil || oldest != 1 || current != want {
			t.Errorf("revisions %d to %d, %v, want 1 to %d", oldest, current, err, want)
		}
		if status, err := view.Status(t.Context()); err != nil || status.Revision != want || status.Size == 0 {
			t.Errorf("status %+v, %v", status, err)
		}
	}
}

// edit changes the data of a ConfigMap.
func edit(t *testing.T, s *resourceStore, i int) {
	t.Helper()
	_, err := s.GuaranteedUpdate(t.Context(), configMapKey(i), func(context.Context, *storage.Entry) (storage.Proposal, error) {
		changed := configMap(fmt.Sprint(i))
		changed.Data = map[string]string{"changed": "yes"}
		return storage.Proposal{Object: changed}, nil
	}, storage.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}
