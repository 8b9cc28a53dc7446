package embedded

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
)

// putOverhead is the number of bytes that etcd adds to the size of a put in its quota check, and
// the size that it counts for a lease.
const putOverhead = 256

// newClient returns a client that calls etcd directly. Its writes wait for free space in the
// database, except transactions that are built with Txn: use Do.
func newClient(etcd *etcdserver.EtcdServer, space *spaceQuota, purger *walPurger) *clientv3.Client {
	client := v3client.New(etcd)
	client.KV = admittedKV{client.KV, space, purger}
	client.Lease = admittedLease{client.Lease, space}
	return client
}

// admittedKV sends a put when the quota has space for it.
type admittedKV struct {
	clientv3.KV
	space  *spaceQuota
	purger *walPurger
}

// Put implements clientv3.KV.
func (a admittedKV) Put(ctx context.Context, key, value string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	resp, err := a.Do(ctx, clientv3.OpPut(key, value, opts...))
	return resp.Put(), err
}

// Do implements clientv3.KV.
func (a admittedKV) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	size := sizeOf(op)
	if size == 0 {
		return a.KV.Do(ctx, op)
	}
	if err := a.space.admit(ctx, size); err != nil {
		return clientv3.OpResponse{}, err
	}
	resp, err := a.KV.Do(ctx, op)
	a.space.release(size, revisionOf(resp))
	a.purger.countWrite(size)
	a.space.reclaimAfter(err)
	return resp, err
}

// revisionOf returns the revision of the response to a put or a transaction, or 0.
func revisionOf(resp clientv3.OpResponse) int64 {
	if put := resp.Put(); put != nil {
		return put.Header.Revision
	}
	if txn := resp.Txn(); txn != nil {
		return txn.Header.Revision
	}
	return 0
}

// sizeOf returns the size that etcd counts for the puts among the operations.
func sizeOf(ops ...clientv3.Op) int64 {
	var size int64
	for _, op := range ops {
		switch {
		case op.IsPut():
			size += int64(len(op.KeyBytes()) + len(op.ValueBytes()) + putOverhead)
		case op.IsTxn():
			_, then, otherwise := op.Txn()
			size += max(sizeOf(then...), sizeOf(otherwise...))
		}
	}
	return size
}

// admittedLease grants a lease when the quota has space for it.
type admittedLease struct {
	clientv3.Lease
	space *spaceQuota
}

// Grant implements clientv3.Lease.
func (a admittedLease) Grant(ctx context.Context, ttl int64) (*clientv3.LeaseGrantResponse, error) {
	if err := a.space.admit(ctx, putOverhead); err != nil {
		return nil, err
	}
	resp, err := a.Lease.Grant(ctx, ttl)
	a.space.release(putOverhead, 0)
	a.space.reclaimAfter(err)
	return resp, err
}
