package etcd

import (
	"context"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// leaseSlack is the divisor of a time to live whose quotient a key may live longer, so that
	// keys with a similar expiry can share a lease.
	leaseSlack = 20
	// maxLeaseSlack is the maximum slack, in seconds.
	maxLeaseSlack = 60
	// expireTimeout limits a request that ends a lease.
	expireTimeout = 5 * time.Second
	// maxLeaseKeys is the maximum number of keys of a lease, which etcd deletes at once.
	maxLeaseKeys = 1000
)

// leasePool provides leases that keys with a similar expiry share. It is safe for concurrent use.
type leasePool struct {
	client clientv3.Lease
	clock  Clock

	// granting holds a token while a lease is granted, so that concurrent creates request one
	// lease together. It is a channel because waiting creates must observe their contexts.
	granting chan struct{}

	mu   sync.Mutex
	live []*sharedLease // guarded by mu
}

type sharedLease struct {
	id      clientv3.LeaseID
	expires time.Time
	keys    int // number of keys that have the lease
}

func newLeasePool(client clientv3.Lease, clock Clock) *leasePool {
	return &leasePool{client: client, clock: clock, granting: make(chan struct{}, 1)}
}

// acquire returns a lease that expires in ttl seconds, or up to slack(ttl) seconds later.
func (p *leasePool) acquire(ctx context.Context, ttl int64) (clientv3.LeaseID, error) {
	if id, ok := p.reuse(ttl); ok {
		return id, nil
	}
	select {
	case p.granting <- struct{}{}:
	case <-ctx.Done():
		return clientv3.NoLease, ctx.Err()
	}
	defer func() { <-p.granting }()
	if id, ok := p.reuse(ttl); ok { // granted while this call waited
		return id, nil
	}
	requested := p.clock.Now()
	granted, err := p.client.Grant(ctx, ttl+slack(ttl))
	if err != nil {
		return clientv3.NoLease, err
	}
	p.clock.AfterFunc(seconds(granted.TTL), func() { p.expire(granted.ID) })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = append(p.live, &sharedLease{id: granted.ID, expires: requested.Add(seconds(granted.TTL)), keys: 1})
	return granted.ID, nil
}

// expire ends a lease at its time on the clock, if that is not the time of etcd. Otherwise etcd
// ends it.
func (p *leasePool) expire(id clientv3.LeaseID) {
	if p.clock.Real() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), expireTimeout)
	defer cancel()
	_, _ = p.client.Revoke(ctx, id) // etcd may have ended it, and ends it otherwise
}

// reuse returns a lease with a suitable expiry and fewer than maxLeaseKeys keys.
func (p *leasePool) reuse(ttl int64) (clientv3.LeaseID, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	p.live = slices.DeleteFunc(p.live, func(l *sharedLease) bool { return !l.expires.After(now) })
	earliest, latest := now.Add(seconds(ttl)), now.Add(seconds(ttl+slack(ttl)))
	for _, l := range p.live {
		if l.keys < maxLeaseKeys && !l.expires.Before(earliest) && !l.expires.After(latest) {
			l.keys++
			return l.id, true
		}
	}
	return clientv3.NoLease, false
}

// clear removes all leases. It is called when etcd has lost a lease and perhaps others, for example
// because a backup was restored.
func (p *leasePool) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = nil
}

func slack(ttl int64) int64 { return min(max(ttl/leaseSlack, 1), maxLeaseSlack) }

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
