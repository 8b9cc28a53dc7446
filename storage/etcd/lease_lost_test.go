package etcd

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
)

// createFor creates an object with a time to live of ttl seconds, and returns its lease.
func createFor(t *testing.T, s *resourceStore, i int, ttl int64) clientv3.LeaseID {
	t.Helper()
	created, err := s.Create(t.Context(), configMapKey(i), configMap("c"), storage.CreateOptions{TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	// The object may have expired since.
	resp, err := s.client.Get(t.Context(), s.cfg.Prefix+configMapKey(i), clientv3.WithRev(created.Revision))
	if err != nil || len(resp.Kvs) != 1 {
		t.Fatalf("%v: %v", resp, err)
	}
	return clientv3.LeaseID(resp.Kvs[0].Lease)
}

// TestLeasesThatEtcdHasLost shows that writes succeed when etcd has lost the leases of the pool,
// for example because a backup was restored while the server was running.
func TestLeasesThatEtcdHasLost(t *testing.T) {
	s := newStore(t, Config{})
	leases := []clientv3.LeaseID{createFor(t, s, 0, 1000)}
	for i := range 2 { // several leases for the same time to live
		s.leases.mu.Lock()
		for _, l := range s.leases.live {
			l.keys = maxLeaseKeys
		}
		s.leases.mu.Unlock()
		leases = append(leases, createFor(t, s, i+1, 1000))
	}
	s.leases.mu.Lock()
	for _, l := range s.leases.live {
		l.keys = 1
	}
	s.leases.mu.Unlock()
	for _, id := range leases {
		if _, err := s.client.Revoke(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if id := createFor(t, s, 9, 1000); id == clientv3.NoLease {
		t.Error("the object has no lease")
	}
}

// TestLeasesOutliveTheProcess shows that an object expires whose lease is older than the process,
// and therefore in no pool. etcd stores leases, and restarts their time after its own restart.
func TestLeasesOutliveTheProcess(t *testing.T) {
	config := embedded.Config{DataDir: t.TempDir()}
	open := func() (*embedded.Server, *resourceStore) {
		server, err := embedded.Start(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		return server, newStore(t, Config{Client: server.Client(), LocalReads: true})
	}
	stop := func(server *embedded.Server) {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
	server, s := open()
	lease := createFor(t, s, 1, 1)
	stop(server)

	server, s = open()
	defer stop(server)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	resp, err := s.client.Get(ctx, s.cfg.Prefix+configMapKey(1))
	if err != nil {
		t.Fatal(err)
	}
	if len(resp.Kvs) == 0 {
		return // it expired before the watch began
	}
	if got := clientv3.LeaseID(resp.Kvs[0].Lease); got != lease {
		t.Errorf("the lease is %x, want %x", got, lease)
	}
	for watched := range s.client.Watch(ctx, s.cfg.Prefix+configMapKey(1), clientv3.WithRev(resp.Header.Revision+1)) {
		for _, e := range watched.Events {
			if e.Type == clientv3.EventTypeDelete {
				return
			}
		}
	}
	t.Error("the object does not expire")
}
