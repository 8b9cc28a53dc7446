package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/internal/tracing"
)

// tracedKV adds a span to each of the requests that this package sends.
type tracedKV struct{ clientv3.KV }

// Get implements clientv3.KV.
func (t tracedKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (_ *clientv3.GetResponse, err error) {
	ctx, end := tracing.Start(ctx, "etcd Range")
	defer end(&err)
	return t.KV.Get(ctx, key, opts...)
}

// Put implements clientv3.KV.
func (t tracedKV) Put(ctx context.Context, key, value string, opts ...clientv3.OpOption) (_ *clientv3.PutResponse, err error) {
	ctx, end := tracing.Start(ctx, "etcd Put")
	defer end(&err)
	return t.KV.Put(ctx, key, value, opts...)
}

// Do implements clientv3.KV.
func (t tracedKV) Do(ctx context.Context, op clientv3.Op) (_ clientv3.OpResponse, err error) {
	name := "etcd Range"
	if op.IsTxn() {
		name = "etcd Txn"
	}
	ctx, end := tracing.Start(ctx, name)
	defer end(&err)
	return t.KV.Do(ctx, op)
}
