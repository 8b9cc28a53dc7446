package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
)

const (
	smallQuota = 16 << 20
	largeValue = 900 << 10
)

func startSmall(t *testing.T) *embedded.Server {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{
		QuotaBytes: smallQuota, ListenClientURLs: []string{"http://127.0.0.1:0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return server
}

// dialSmall returns a client of an external etcd with a small quota.
func dialSmall(t *testing.T) *clientv3.Client {
	t.Helper()
	return dialed(t, strings.TrimPrefix(startSmall(t).ClientURLs()[0], "http://"))
}

func largeConfigMap(text string) *corev1.ConfigMap {
	object := configMap("large")
	object.UID = "u" // distinguishes the creation from an equal one
	object.Data = map[string]string{"large": strings.Repeat(text, largeValue/len(text))}
	return object
}

// fill creates large objects until the store rejects one, and returns their number and the error.
func fill(t *testing.T, s *resourceStore) (int, error) {
	t.Helper()
	for i := range 1000 {
		if _, err := s.Create(t.Context(), configMapKey(i), largeConfigMap("x"), storage.CreateOptions{}); err != nil {
			return i, err
		}
	}
	t.Fatal("the quota is not enforced")
	return 0, nil
}

// Replacing one object many times fills a database with its history.
func TestWritesSucceedAtTheQuota(t *testing.T) {
	const writers, writes = 4, 30 // many times the quota
	server := startSmall(t)
	s := newStore(t, Config{Client: server.Client(), LocalReads: true, Member: server})
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range writes {
				object := largeConfigMap(fmt.Sprintf("%d-%d ", w, i))
				replace := func(context.Context, *storage.Entry) (storage.Proposal, error) {
					return storage.Proposal{Object: object.DeepCopyObject()}, nil
				}
				key := configMapKey(w % 2) // two writers compete for each object
				if _, err := s.GuaranteedUpdate(t.Context(), key, replace, storage.UpdateOptions{CreateIfAbsent: true}); err != nil {
					t.Errorf("write %d of writer %d: %v", i, w, err)
				}
			}
		})
	}
	group.Wait()
	if status, err := server.Client().Status(t.Context(), ""); err != nil || status.DbSize >= smallQuota {
		t.Errorf("the database has %d of %d bytes, %v", status.DbSize, smallQuota, err)
	}
}

func TestFullDatabase(t *testing.T) {
	t.Run("rejects writes with instructions", func(t *testing.T) {
		server := startSmall(t)
		s := newStore(t, Config{Client: server.Client(), LocalReads: true})
		n, err := fill(t, s)
		expectNoSpace(t, err, "nothing was written: etcdserver: mvcc: database space exceeded: the objects take ", "--etcd-quota-backend-bytes")
		_, err = s.Create(t.Context(), configMapKey(n), largeConfigMap("leased"), storage.CreateOptions{TTL: 60})
		expectNoSpace(t, err, "nothing was written: etcdserver: mvcc: database space exceeded: ")
		list, err := s.GetList(t.Context(), "/configmaps/", storage.ListOptions{Recursive: true})
		if err != nil || len(list.Entries) != n {
			t.Errorf("%d objects, %v; want %d", len(list.Entries), err, n)
		}
	})
	t.Run("accepts writes after objects are deleted", func(t *testing.T) {
		server := startSmall(t)
		s := newStore(t, Config{Client: server.Client(), LocalReads: true})
		n, _ := fill(t, s)
		for i := range n {
			if _, err := s.Delete(t.Context(), configMapKey(i), storage.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Create(t.Context(), configMapKey(n), largeConfigMap("y"), storage.CreateOptions{TTL: 60}); err != nil {
			t.Error(err)
		}
	})
	t.Run("of an external etcd is not compacted", func(t *testing.T) {
		s := newStore(t, Config{Client: dialSmall(t)})
		n, err := fill(t, s)
		for i := range n {
			if _, err := s.Delete(t.Context(), configMapKey(i), storage.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		expectNoSpace(t, err, "nothing was written: etcdserver: mvcc: database space exceeded: ", "etcdctl defrag", "etcdctl alarm disarm")
		_, err = s.Create(t.Context(), configMapKey(n), configMap("small"), storage.CreateOptions{})
		expectNoSpace(t, err)
	})
	t.Run("of an external etcd may have applied a rejected write", func(t *testing.T) {
		s := newStore(t, Config{Client: dialSmall(t)})
		n, cause := fill(t, s)
		sent := func(object *corev1.ConfigMap, i int) sentWrite {
			data, err := s.encode(object)
			if err != nil {
				t.Fatal(err)
			}
			key := configMapKey(i)
			return sentWrite{guardedWrite: guardedWrite{op: "create", target: target{key: key, path: "/registry" + key}, unique: true}, value: data}
		}
		v, err := s.unanswered(t.Context(), sent(largeConfigMap("x"), n-1), rpctypes.ErrNoSpace)
		if err != nil || !v.succeeded {
			t.Errorf("the write was applied: %+v, %v", v, err)
		}
		_, err = s.unanswered(t.Context(), sent(largeConfigMap("y"), n-1), rpctypes.ErrNoSpace)
		expectNoSpace(t, err)
		expectNoSpace(t, cause)
	})
	t.Run("can be seeded if it has all seeds", func(t *testing.T) {
		s := newStore(t, Config{Client: dialSmall(t)})
		seeds := []Seed{{Key: "/namespaces/a", Value: []byte("a")}, {Key: "/namespaces/b", Value: []byte("b")}}
		if err := s.Seed(t.Context(), seeds); err != nil {
			t.Fatal(err)
		}
		fill(t, s)
		if err := s.Seed(t.Context(), seeds); err != nil {
			t.Error(err)
		}
		expectNoSpace(t, s.Seed(t.Context(), append(seeds, Seed{Key: "/namespaces/c"})), "create /namespaces/c: ")
	})
	t.Run("can be seeded after objects are deleted", func(t *testing.T) {
		s := newStore(t, Config{Client: startSmall(t).Client(), LocalReads: true})
		n, _ := fill(t, s)
		for i := range n {
			if _, err := s.Delete(t.Context(), configMapKey(i), storage.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Seed(t.Context(), []Seed{{Key: "/namespaces/a", Value: []byte("a")}}); err != nil {
			t.Error(err)
		}
	})
	t.Run("is compacted by the compactor", func(t *testing.T) {
		s := newStore(t, Config{Client: dialSmall(t)})
		c := NewCompactor(CompactorConfig{Client: s.client})
		old := create(t, s, 1000).Revision
		fill(t, s)
		compact(t, c) // reads the current revision
		expectReadable(t, s.client, old, true)
		compact(t, c)
		expectReadable(t, s.client, old, false)
	})
}

func expectNoSpace(t *testing.T, err error, texts ...string) {
	t.Helper()
	if !errors.Is(err, storage.ErrNoSpace) || errors.Is(err, storage.ErrUnknownOutcome) {
		t.Errorf("got %v, want ErrNoSpace", err)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q is missing in: %v", text, err)
		}
	}
}

// A key that has changed does not prove that a write with ErrNoSpace was rejected: the write
// itself or another one may have changed it.
func TestRejectedWriteIsDistinguishedFromAnAppliedOne(t *testing.T) {
	s := newStore(t, Config{})
	at := func(revision int64) guardedWrite {
		return guardedWrite{op: "update", target: target{key: configMapKey(0), path: "/registry" + configMapKey(0)}, revision: revision}
	}
	if !s.unchanged(t.Context(), at(0)) {
		t.Error("an absent object is reported as changed")
	}
	revision := create(t, s, 0).Revision
	if s.unchanged(t.Context(), at(0)) {
		t.Error("a created object is reported as unchanged")
	}
	if !s.unchanged(t.Context(), at(revision)) {
		t.Error("an unchanged object is reported as changed")
	}
	if _, err := s.client.Put(t.Context(), "/registry"+configMapKey(0), "x"); err != nil {
		t.Fatal(err)
	}
	if s.unchanged(t.Context(), at(revision)) {
		t.Error("a changed object is reported as unchanged")
	}
}
