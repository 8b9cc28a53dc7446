package etcd

import (
	"fmt"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
)

func acquire(t *testing.T, p *leasePool, ttl int64) clientv3.LeaseID {
	t.Helper()
	id, err := p.acquire(t.Context(), ttl)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// fakeClock is a clock that a test moves. Its functions are not called.
type fakeClock struct {
	machineClock
	now *time.Time
}

func (c fakeClock) Now() time.Time { return *c.now }

// poolAt returns a pool with a clock that advance moves.
func poolAt(client *clientv3.Client) (pool *leasePool, advance func(time.Duration)) {
	now := time.Unix(1e9, 0)
	pool = newLeasePool(client, fakeClock{now: &now})
	return pool, func(d time.Duration) { now = now.Add(d) }
}

func TestLeaseIsShared(t *testing.T) {
	client := startEtcd(t)
	t.Run("by keys that expire within the slack", func(t *testing.T) {
		pool, advance := poolAt(client)
		first := acquire(t, pool, 1000) // expires after 1050 seconds
		advance(49 * time.Second)
		if acquire(t, pool, 1000) != first {
			t.Error("not shared within the slack")
		}
		advance(2 * time.Second)
		if acquire(t, pool, 1000) == first {
			t.Error("shared, although the lease expires before the key")
		}
	})
	t.Run("not by keys that expire much earlier", func(t *testing.T) {
		pool, _ := poolAt(client)
		if acquire(t, pool, 1000) == acquire(t, pool, 900) {
			t.Error("shared")
		}
	})
	t.Run("after leases of other times to live were acquired", func(t *testing.T) {
		pool, _ := poolAt(client)
		first := acquire(t, pool, 1000)
		acquire(t, pool, 100)
		if acquire(t, pool, 1000) != first {
			t.Error("not shared")
		}
	})
	t.Run("by at most maxLeaseKeys keys", func(t *testing.T) {
		pool, _ := poolAt(client)
		first := acquire(t, pool, 1000)
		for range maxLeaseKeys - 1 {
			if acquire(t, pool, 1000) != first {
				t.Fatal("not shared")
			}
		}
		if acquire(t, pool, 1000) == first {
			t.Errorf("shared by more than %d keys", maxLeaseKeys)
		}
	})
	t.Run("by concurrent callers", func(t *testing.T) {
		pool, _ := poolAt(client)
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() {
				if _, err := pool.acquire(t.Context(), 1000); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if n := len(pool.live); n != 1 {
			t.Errorf("%d leases were granted", n)
		}
	})
}

func TestExpiredLeasesAreRemoved(t *testing.T) {
	pool, advance := poolAt(startEtcd(t))
	acquire(t, pool, 100)
	advance(106 * time.Second)
	acquire(t, pool, 100)
	if n := len(pool.live); n != 1 {
		t.Errorf("the pool keeps %d leases", n)
	}
}

func TestRevokedLeaseIsReplaced(t *testing.T) {
	s := newStore(t, Config{})
	lease := acquire(t, s.leases, 1000)
	if _, err := s.client.Revoke(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if _, err := s.Create(t.Context(), configMapKey(i), configMap(fmt.Sprint(i)), storage.CreateOptions{TTL: 1000}); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := s.client.Get(t.Context(), "/registry/configmaps/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	if a, b := resp.Kvs[0].Lease, resp.Kvs[1].Lease; a != b || a == int64(lease) || a == 0 {
		t.Errorf("leases %x and %x, revoked %x", a, b, lease)
	}
}
