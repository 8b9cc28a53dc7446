package etcd

import (
	"context"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// internalKeys is the prefix of the keys of the Backend itself, which belong to no resource.
const internalKeys = "/miniapi.io/"

// fenceKey is the key of the fence, below the prefix.
const fenceKey = internalKeys + "fence"

// receiptKey is the key of the receipt. Each write that leaves a receipt gives it a new value.
const receiptKey = internalKeys + "receipt"

// fence prevents a write from happening after its outcome was resolved. A transaction without an
// answer may be delayed in a connection or in a member that stalls, and be committed at any later
// time. A read, whatever its consistency, cannot show that it never happens.
//
// Therefore every write compares the ModRevision of the fence, which is 0 until the fence exists,
// beside the revision of its key. To raise the fence means to write it. etcd never assigns a
// ModRevision twice, so a transaction that was sent before fails its comparison if any member
// applies it afterwards: a write that has not happened at the revision of the fence never happens.
//
// The servers of one etcd share the fence. A write of another server that fails because of the
// fence has certainly written nothing, and is sent again with the new value.
type fence struct {
	path  string
	value atomic.Pointer[fenceValue] // the last one that etcd returned
}

// fenceValue is a ModRevision of the fence, with the comparison that a write of that time makes.
type fenceValue struct {
	revision int64
	equals   clientv3.Cmp
}

func newFence(path string) *fence {
	f := &fence{path: path}
	f.set(0)
	return f
}

func (f *fence) set(revision int64) {
	f.value.Store(&fenceValue{revision: revision, equals: modRevisionIs(f.path, revision)})
}

// learn reads the fence and reports whether its value differs from the one compared.
func (f *fence) learn(ctx context.Context, kv clientv3.KV, compared int64) (raised bool, err error) {
	resp, err := kv.Get(ctx, f.path, clientv3.WithKeysOnly())
	if err != nil {
		return false, err
	}
	revision := int64(0)
	if len(resp.Kvs) > 0 {
		revision = resp.Kvs[0].ModRevision
	}
	f.set(revision)
	return revision != compared, nil
}

// raise returns a revision after which no write happens that compared the given value.
func (f *fence) raise(ctx context.Context, kv clientv3.KV, compared int64) (int64, error) {
	if value := f.value.Load(); value.revision > compared {
		return value.revision, nil // raised since then, for another write
	}
	resp, err := kv.Put(ctx, f.path, "")
	if err != nil {
		return 0, err
	}
	f.set(resp.Header.Revision)
	return resp.Header.Revision, nil
}

// modRevisionIs returns the comparison of the ModRevision of a key with a revision. It makes no
// copy of the comparison, unlike clientv3.Compare.
func modRevisionIs(path string, revision int64) clientv3.Cmp {
	comparison := clientv3.ModRevision(path)
	c := comparison.GetCompare()
	c.Result = etcdserverpb.Compare_EQUAL
	c.TargetUnion = &etcdserverpb.Compare_ModRevision{ModRevision: revision}
	return comparison
}
