package etcd

import (
	"context"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// leaseSlack is the part of a time to live by which a key may outlive it,
	// so that keys which expire about then can share a lease.
	leaseSlack = 20 // a twentieth
	// maxLeaseSlack bounds the slack of long lives, in seconds.
	maxLeaseSlack = 60
	// maxLeaseKeys bounds how many keys etcd deletes at once as a lease ends.
	maxLeaseKeys = 1000
)

// leasePool hands out leases that are shared by keys of about the same expiry.
// It is safe for concurrent use.
type leasePool struct {
	client clientv3.Lease
	now    func() time.Time

	// granting holds a token while a lease is granted, so that sixteen creates
	// at once ask for one lease and not for sixteen. A channel and no mutex:
	// those who wait respect their contexts.
	granting chan struct{}

	mu   sync.Mutex
	live []*sharedLease // guarded by mu
}

type sharedLease struct {
	id      clientv3.LeaseID
	expires time.Time
	keys    int // handed out so often
}

func newLeasePool(client clientv3.Lease) *leasePool {
	return &leasePool{client: client, now: time.Now, granting: make(chan struct{}, 1)}
}

// acquire returns a lease that lives for ttl seconds and at most slack(ttl)
// more.
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
	if id, ok := p.reuse(ttl); ok { // granted while this one waited
		return id, nil
	}
	asked := p.now()
	granted, err := p.client.Grant(ctx, ttl+slack(ttl))
	if err != nil {
		return clientv3.NoLease, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = append(p.live, &sharedLease{id: granted.ID, expires: asked.Add(seconds(granted.TTL)), keys: 1})
	return granted.ID, nil
}

// reuse returns a lease that fits and has room for one more key.
func (p *leasePool) reuse(ttl int64) (clientv3.LeaseID, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
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

// clear drops all leases: etcd has lost one of them, and with it others of the same time perhaps,
// as after a backup was restored.
func (p *leasePool) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = nil
}

func slack(ttl int64) int64 { return min(max(ttl/leaseSlack, 1), maxLeaseSlack) }

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
