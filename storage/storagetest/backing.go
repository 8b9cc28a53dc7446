package storagetest

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Revision returns the current revision of the store's etcd.
func (f Fixture) Revision(ctx context.Context) (int64, error) {
	resp, err := f.Client.Get(ctx, f.Prefix, clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return resp.Header.Revision, nil
}

// Compact compacts etcd at revision, and returns when all members have done so.
func (f Fixture) Compact(ctx context.Context, revision int64) error {
	if _, err := f.Client.Compact(ctx, revision, clientv3.WithCompactPhysical()); err != nil {
		return err
	}
	for _, endpoint := range f.Client.Endpoints() {
		if err := f.awaitCompaction(ctx, endpoint, revision); err != nil {
			return err
		}
	}
	return nil
}

// awaitCompaction waits until a member has compacted. Members compact later than the member that
// received the request.
func (f Fixture) awaitCompaction(ctx context.Context, endpoint string, revision int64) error {
	for {
		resp, err := f.Client.HashKV(ctx, endpoint, 0)
		if err != nil {
			return err
		}
		if resp.CompactRevision >= revision {
			return nil
		}
	}
}

// raw returns etcd's key and value under a key of the store, nil if there is none.
func (f Fixture) raw(ctx context.Context, key string) (*mvccpb.KeyValue, error) {
	resp, err := f.Client.Get(ctx, f.Prefix+key)
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	return resp.Kvs[0], nil
}

// putRaw writes bytes under a key without using the store.
func (f Fixture) putRaw(ctx context.Context, key string, data []byte) (revision int64, err error) {
	resp, err := f.Client.Put(ctx, f.Prefix+key, string(data))
	if err != nil {
		return 0, err
	}
	return resp.Header.Revision, nil
}

// plain returns the bytes of the codec for stored bytes.
func (f Fixture) plain(ctx context.Context, kv *mvccpb.KeyValue) ([]byte, error) {
	if f.Transformer == nil {
		return kv.Value, nil
	}
	data, _, err := f.Transformer.FromStorage(ctx, kv.Value, string(kv.Key))
	return data, err
}

// atRest returns the bytes that the store writes under a key for bytes of the codec.
func (f Fixture) atRest(ctx context.Context, key string, data []byte) ([]byte, error) {
	if f.Transformer == nil {
		return data, nil
	}
	return f.Transformer.ToStorage(ctx, data, f.Prefix+key)
}

// fill writes objects under their keys, many in one transaction, to create a large state quickly.
func (f Fixture) fill(ctx context.Context, kind Kind, objects []Object) error {
	const batch = 100 // etcd accepts 128 operations in a transaction
	for start := 0; start < len(objects); start += batch {
		var ops []clientv3.Op
		for _, obj := range objects[start:min(start+batch, len(objects))] {
			op, err := f.putOp(ctx, kind, obj)
			if err != nil {
				return err
			}
			ops = append(ops, op)
		}
		if _, err := f.Client.Txn(ctx).Then(ops...).Commit(); err != nil {
			return err
		}
	}
	return nil
}

func (f Fixture) putOp(ctx context.Context, kind Kind, obj Object) (clientv3.Op, error) {
	data, err := kind.Codec.Encode(obj)
	if err != nil {
		return clientv3.Op{}, err
	}
	key := kind.Key(obj.GetNamespace(), obj.GetName())
	if data, err = f.atRest(ctx, key, data); err != nil {
		return clientv3.Op{}, fmt.Errorf("%s: %w", key, err)
	}
	return clientv3.OpPut(f.Prefix+key, string(data)), nil
}
