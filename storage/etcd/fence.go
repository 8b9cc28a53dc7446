package etcd

import (
	"context"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// fenceKey is below the prefix and belongs to no resource.
const fenceKey = "/miniapi.io/fence"

// receiptKey has a new value after every write that leaves a receipt.
const receiptKey = "/miniapi.io/receipt"

// fence keeps a write from happening after its outcome was looked at. A
// transaction without an answer may be delayed on its way, in a connection or in
// a member that stands still, and be committed at any later time, so no read can
// show that it never happens, whatever its consistency.
//
// Therefore every write compares, beside the revision of its key, the
// ModRevision of the fence, 0 as long as that does not exist. Raising the fence
// is a write of it. etcd never gives a ModRevision twice, so every transaction
// sent before fails its comparison if it is applied after, over whichever member
// it comes: a write that has not happened at the revision of the fence never happens.
//
// The servers of one etcd share the fence. A write of any of them that fails
// because of it is sent again with the new value: it is certain that nothing was
// written.
type fence struct {
	path  string
	value atomic.Int64 // ModRevision that etcd has returned last
}

// isLowered returns the comparison of the fence with a value that was read before.
func (f *fence) isLowered(value int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(f.path), "=", value)
}

// learn reads the fence, and returns whether it has another value than the one
// compared.
func (f *fence) learn(ctx context.Context, client *clientv3.Client, compared int64) (raised bool, err error) {
	resp, err := client.Get(ctx, f.path, clientv3.WithKeysOnly())
	if err != nil {
		return false, err
	}
	value := int64(0)
	if len(resp.Kvs) > 0 {
		value = resp.Kvs[0].ModRevision
	}
	f.value.Store(value)
	return value != compared, nil
}

// raise returns a revision from which on no write happens that compared a value.
func (f *fence) raise(ctx context.Context, client *clientv3.Client, compared int64) (int64, error) {
	if value := f.value.Load(); value > compared {
		return value, nil // raised since, for another write
	}
	resp, err := client.Put(ctx, f.path, "")
	if err != nil {
		return 0, err
	}
	f.value.Store(resp.Header.Revision)
	return resp.Header.Revision, nil
}
