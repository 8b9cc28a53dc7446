package etcd

import (
	"context"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Failure is a failure of etcd that is simulated for a request.
type Failure struct {
	// Delay is the time before the request is sent.
	Delay time.Duration
	// Unavailable fails the request as if no member could be reached: it is not sent.
	Unavailable bool
	// NoSpace fails puts and leases as if etcd had raised the alarm NOSPACE: they are not sent.
	NoSpace bool
	// Ended is closed at the end of the failure. The log of changes stops until then if etcd is
	// unavailable.
	Ended <-chan struct{}
}

// errUnavailable is the error of a request to an etcd that cannot be reached.
var errUnavailable = status.Error(codes.Unavailable, unsent+"etcd is unavailable by a fault")

// before waits for the delay and returns the error of a request, nil to send it. put is set if the
// request needs space. A nil Failure does nothing.
func (f *Failure) before(ctx context.Context, put bool) error {
	if f == nil {
		return nil
	}
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	switch {
	case f.Unavailable:
		return errUnavailable
	case f.NoSpace && put:
		return rpctypes.ErrNoSpace
	}
	return nil
}

// failingKV has the requests that this package sends. Other requests do not fail.
type failingKV struct {
	clientv3.KV
	failure func(context.Context) *Failure
}

// Get implements clientv3.KV.
func (f failingKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if err := f.failure(ctx).before(ctx, false); err != nil {
		return nil, err
	}
	return f.KV.Get(ctx, key, opts...)
}

// Put implements clientv3.KV.
func (f failingKV) Put(ctx context.Context, key, value string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	if err := f.failure(ctx).before(ctx, true); err != nil {
		return nil, err
	}
	return f.KV.Put(ctx, key, value, opts...)
}

// Do implements clientv3.KV.
func (f failingKV) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	if err := f.failure(ctx).before(ctx, puts(op)); err != nil {
		return clientv3.OpResponse{}, err
	}
	return f.KV.Do(ctx, op)
}

// puts reports whether an operation contains a put.
func puts(op clientv3.Op) bool {
	if !op.IsTxn() {
		return op.IsPut()
	}
	_, then, otherwise := op.Txn()
	return slices.ContainsFunc(then, puts) || slices.ContainsFunc(otherwise, puts)
}

type failingLease struct {
	clientv3.Lease
	failure func(context.Context) *Failure
}

// Grant implements clientv3.Lease.
func (f failingLease) Grant(ctx context.Context, ttl int64) (*clientv3.LeaseGrantResponse, error) {
	if err := f.failure(ctx).before(ctx, true); err != nil {
		return nil, err
	}
	return f.Lease.Grant(ctx, ttl)
}

// failure returns the simulated failure of a request, nil for none.
func (b *Backend) failure(ctx context.Context) *Failure {
	if b.cfg.Failure == nil {
		return nil
	}
	return b.cfg.Failure(ctx)
}

// awaitAvailable waits while etcd is unavailable by a fault. It returns false if ctx ends before.
func (b *Backend) awaitAvailable(ctx context.Context) bool {
	for f := b.failure(ctx); f != nil && f.Unavailable; f = b.failure(ctx) {
		select {
		case <-f.Ended:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
