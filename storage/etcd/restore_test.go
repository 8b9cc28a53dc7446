package etcd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// valuesOf returns the stored values by key.
func valuesOf(t *testing.T, b *Backend) map[string]string {
	t.Helper()
	snapshot, err := b.Snapshot(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, v := range snapshot.values {
		values[v.key] = string(v.data)
	}
	return values
}

func TestRestoreInAnotherStore(t *testing.T) {
	origin := newStore(t, Config{PageSize: 7})
	for i := range 300 { // several pages and transactions
		create(t, origin, i)
	}
	large := strings.Repeat("x", 900<<10) // two of them need two transactions
	for _, name := range []string{"a", "b"} {
		if _, err := origin.client.Put(t.Context(), "/registry/large/"+name, large); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := origin.client.Put(t.Context(), origin.fence.path, ""); err != nil {
		t.Fatal(err)
	}
	snapshot, err := origin.Snapshot(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	copied := newStore(t, Config{})
	revision, err := copied.Restore(t.Context(), snapshot, RestoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if current, err := copied.CurrentRevision(t.Context()); err != nil || current != revision {
		t.Errorf("revision %d, error %v; Restore returned %d", current, err, revision)
	}
	if diff := cmp.Diff(valuesOf(t, origin.Backend), valuesOf(t, copied.Backend)); diff != "" {
		t.Error(diff)
	}
	if snapshot.Len() != 302 {
		t.Errorf("%d keys: the keys of the backend do not belong to a snapshot", snapshot.Len())
	}
}

func TestSnapshotOfAnEarlierRevision(t *testing.T) {
	store := newStore(t, Config{})
	first := create(t, store, 1)
	create(t, store, 2)
	snapshot, err := store.Snapshot(t.Context(), first.Revision)
	if err != nil || snapshot.Len() != 1 || snapshot.Revision() != first.Revision {
		t.Errorf("%+v, error %v", snapshot, err)
	}
}

func TestReplaceKeysOfASnapshot(t *testing.T) {
	of := func(keys ...string) *Snapshot {
		s := &Snapshot{}
		for _, key := range keys {
			s.values = append(s.values, value{key: key})
		}
		return s
	}
	replaced := of("/a/1", "/b/1", "/b/2", "/c/1").Replace("/b/", of("/a/2", "/b/2", "/b/3"))
	if diff := cmp.Diff(of("/a/1", "/b/2", "/b/3", "/c/1").values, replaced.values, cmp.AllowUnexported(value{})); diff != "" {
		t.Error(diff)
	}
}

// TestRestoreWritesOnlyDifferences counts the revisions of keys.
func TestRestoreWritesOnlyDifferences(t *testing.T) {
	store := newStore(t, Config{})
	for i := range 5 {
		create(t, store, i)
	}
	snapshot, err := store.Snapshot(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	put := func(i int, value string) {
		t.Helper()
		if _, err := store.client.Put(t.Context(), "/registry"+configMapKey(i), value); err != nil {
			t.Fatal(err)
		}
	}
	put(1, "changed")
	put(7, "added")
	if _, err := store.client.Delete(t.Context(), "/registry"+configMapKey(2)); err != nil {
		t.Fatal(err)
	}
	before, err := store.CurrentRevision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Restore(t.Context(), snapshot, RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	resp, err := store.client.Get(t.Context(), "/registry/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	written := []string{}
	for _, kv := range resp.Kvs {
		if kv.ModRevision > before {
			written = append(written, string(bytes.TrimPrefix(kv.Key, []byte("/registry"))))
		}
	}
	if diff := cmp.Diff([]string{configMapKey(1), configMapKey(2)}, written); diff != "" {
		t.Error(diff)
	}
	if len(resp.Kvs) != 5 {
		t.Errorf("%d keys, want 5", len(resp.Kvs))
	}
}

// TestRestoreWritesEachKeyAtItsOwnRevision shows that a client which resumes a watch at the
// revision of any event misses no other event of a restore.
func TestRestoreWritesEachKeyAtItsOwnRevision(t *testing.T) {
	store := newStore(t, Config{})
	empty, err := store.Snapshot(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	const keys = 40
	for i := range keys {
		create(t, store, i)
	}
	full, err := store.Snapshot(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	events := store.client.Watch(t.Context(), "/registry/", clientv3.WithPrefix(), clientv3.WithRev(full.Revision()+1))
	last, got := full.Revision(), 0
	for _, snapshot := range []*Snapshot{empty, full} {
		until, err := store.Restore(t.Context(), snapshot, RestoreOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for last < until {
			for _, e := range (<-events).Events {
				if e.Kv.ModRevision == last {
					t.Fatalf("two events have revision %d", last)
				}
				last, got = e.Kv.ModRevision, got+1
			}
		}
	}
	if got != 2*keys {
		t.Errorf("%d events, want %d", got, 2*keys)
	}
}

// TestRestoreReplacesAnObjectCreatedMeanwhile shows that Restore writes over no state that it has
// not compared: an object that another client creates under the name of a restored one is deleted
// first.
func TestRestoreReplacesAnObjectCreatedMeanwhile(t *testing.T) {
	store := newStore(t, Config{})
	create(t, store, 1)
	snapshot, err := store.Snapshot(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	key := "/registry" + configMapKey(1)
	if _, err := store.client.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	absent, err := store.Snapshot(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	created, err := store.client.Put(t.Context(), key, "another object")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.writeAll(t.Context(), absent.differences(snapshot, RestoreOptions{}), RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	resp, err := store.client.Get(t.Context(), key)
	if err != nil || len(resp.Kvs) != 1 || resp.Kvs[0].ModRevision != created.Header.Revision {
		t.Errorf("the object is overwritten: %v, error %v", resp, err)
	}
}
