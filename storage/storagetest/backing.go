package storagetest

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Revision returns the current revision of the etcd behind the store.
func (f Fixture) Revision(ctx context.Context) (int64, error) {
	resp, err := f.Client.Get(ctx, f.Prefix, clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return resp.Header.Revision, nil
}

// Compact throws away what etcd knows of the time before revision, and returns
// when every member has done so.
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

// awaitCompaction asks a member until it has compacted: the others learn of it
// later than the one that was told.
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

// raw returns what etcd has under a key of the store, nil if there is nothing.
func (f Fixture) raw(ctx context.Context, key string) (*mvccpb.KeyValue, error) {
	resp, err := f.Client.Get(ctx, f.Prefix+key)
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	return resp.Kvs[0], nil
}

// putRaw writes bytes under a key behind the store's back.
func (f Fixture) putRaw(ctx context.Context, key string, data []byte) (revision int64, err error) {
	resp, err := f.Client.Put(ctx, f.Prefix+key, string(data))
	if err != nil {
		return 0, err
	}
	return resp.Header.Revision, nil
}

// plain returns stored bytes as the codec made them.
func (f Fixture) plain(ctx context.Context, kv *mvccpb.KeyValue) ([]byte, error) {
	if f.Transformer == nil {
		return kv.Value, nil
	}
	data, _, err := f.Transformer.FromStorage(ctx, kv.Value, string(kv.Key))
	return data, err
}

// atRest returns the bytes that the store would keep under a key.
func (f Fixture) atRest(ctx context.Context, key string, data []byte) ([]byte, error) {
	if f.Transformer == nil {
		return data, nil
	}
	return f.Transformer.ToStorage(ctx, data, f.Prefix+key)
}

// fill writes objects under their keys, many in one transaction: a large state
// is there in no time.
func (f Fixture) fill(ctx context.Context, kind Kind, objects []Object) error {
	const batch = 100 // etcd takes 128 operations in a transaction
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
