package etcd

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/miniapi/miniapi/storage"
)

// deleteCorrupt deletes an object that cannot be decoded. It always reads the stored bytes first,
// so that it decides on the bytes that it deletes.
func (s *resourceStore) deleteCorrupt(ctx context.Context, t target) (*storage.Entry, error) {
	resp, err := s.kv.Get(ctx, t.path, s.consistent()...)
	if err != nil {
		return nil, readError("delete", t.key, err)
	}
	var current *mvccpb.KeyValue
	if len(resp.Kvs) > 0 {
		current = resp.Kvs[0]
	}
	for {
		if current == nil {
			return nil, failed("delete", t.key, 0, storage.ErrNotFound, nil)
		}
		entry, err := s.corruptEntry(ctx, current)
		if err != nil {
			return nil, rejected("delete", t.key, current.ModRevision, err)
		}
		txn, err := s.remove(ctx, guardedWrite{op: "delete", target: t, revision: entry.Revision, readCurrent: true})
		if err != nil {
			return nil, err
		}
		if txn.succeeded {
			return entry.At(txn.revision), nil
		}
		current = txn.current // another write came first
	}
}
