package etcd

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

func compact(t *testing.T, c *Compactor) {
	t.Helper()
	if err := c.compact(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// compactKey returns version and value of compact_rev_key.
func compactKey(t *testing.T, client *clientv3.Client) (version int64, value string) {
	t.Helper()
	resp, err := client.Get(t.Context(), "compact_rev_key")
	if err != nil || len(resp.Kvs) != 1 {
		t.Fatalf("%v, %v", resp, err)
	}
	return resp.Kvs[0].Version, string(resp.Kvs[0].Value)
}

func expectReadable(t *testing.T, client *clientv3.Client, revision int64, readable bool) {
	t.Helper()
	_, err := client.Get(t.Context(), "a", clientv3.WithRev(revision))
	if readable && err != nil {
		t.Errorf("revision %d: %v", revision, err)
	}
	if !readable && !errors.Is(err, rpctypes.ErrCompacted) {
		t.Errorf("revision %d: got %v, want it compacted", revision, err)
	}
}

func TestCompactorCompactsHistoryOlderThanTheRetention(t *testing.T) {
	s := newStore(t, Config{})
	c := NewCompactor(CompactorConfig{Client: s.client})
	old := create(t, s, 0).Revision
	compact(t, c) // reads the current revision
	seen := c.revision
	expectReadable(t, s.client, old, true)
	young := create(t, s, 1).Revision
	compact(t, c)
	expectReadable(t, s.client, old, false)
	expectReadable(t, s.client, young, true)
	if version, value := compactKey(t, s.client); version != 2 || value != versioner.Format(seen) {
		t.Errorf("compact_rev_key has version %d and value %s, want 2 and %d", version, value, seen)
	}
}

func TestOnlyOneCompactorCompacts(t *testing.T) {
	s := newStore(t, Config{})
	one, other := NewCompactor(CompactorConfig{Client: s.client}), NewCompactor(CompactorConfig{Client: s.client})
	compact(t, one)
	compact(t, other) // reads the version that the first one has written
	first := create(t, s, 0).Revision
	compact(t, one)
	compact(t, other)
	if version, _ := compactKey(t, s.client); version != 2 {
		t.Errorf("%d rounds in two periods", version)
	}
	expectReadable(t, s.client, first, true)

	// The first one has stopped, so the other one takes over.
	create(t, s, 1)
	compact(t, other)
	compact(t, other)
	if version, _ := compactKey(t, s.client); version != 4 {
		t.Errorf("version %d: the other compactor did not take over", version)
	}
	expectReadable(t, s.client, first, false)
}

func TestCompactorRestartsAfterItsKeyIsDeleted(t *testing.T) {
	s := newStore(t, Config{})
	c := NewCompactor(CompactorConfig{Client: s.client})
	compact(t, c)
	if _, err := s.client.Delete(t.Context(), compactRevKey); err != nil {
		t.Fatal(err)
	}
	compact(t, c)
	compact(t, c)
	if version, _ := compactKey(t, s.client); version != 1 {
		t.Errorf("version %d", version)
	}
}

func TestCompactorRunsUntilItsContextEnds(t *testing.T) {
	s := newStore(t, Config{})
	old := create(t, s, 0).Revision
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rounds := s.client.Watch(ctx, compactRevKey)
	ran := make(chan error, 1)
	go func() {
		ran <- NewCompactor(CompactorConfig{Client: s.client, Retention: time.Millisecond}).Run(ctx)
	}()
	for version := int64(0); version < 3; { // the third round follows the first compaction
		for _, e := range (<-rounds).Events {
			version = e.Kv.Version
		}
	}
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	expectReadable(t, s.client, old, false)
}

// The next page of a list that began before a compaction returns ErrCompacted.
func TestCompactionEndsAPaginatedList(t *testing.T) {
	s := newStore(t, Config{})
	for i := range 3 {
		create(t, s, i)
	}
	opts := storage.ListOptions{Recursive: true, Limit: 1}
	page, err := s.GetList(t.Context(), "/configmaps/", opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Compact(t.Context(), create(t, s, 3).Revision); err != nil {
		t.Fatal(err)
	}
	opts.Continue = page.Continue
	if _, err := s.GetList(t.Context(), "/configmaps/", opts); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("got %v", err)
	}
}
