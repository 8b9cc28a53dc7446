package etcd

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/miniapi/miniapi/storage"
)

// deleteCorrupt deletes an object that cannot be decoded. A suggestion
// is ignored: the decision is made on the bytes that are deleted.
func (s *resourceStore) deleteCorrupt(ctx context.Context, t target, opts storage.DeleteOptions) (*storage.Entry, error) {
	resp, err := s.client.Get(ctx, t.path, s.consistent()...)
	if err != nil {
		return nil, readError("delete", t.key, err)
	}
	var current *mvccpb.KeyValue
	if len(resp.Kvs) > 0 {
		current = resp.Kvs[0]
	}
	for {
		entry, err := s.mayDeleteCorrupt(ctx, t, current, opts)
		if err != nil || opts.DryRun {
			return entry, err
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

// mayDeleteCorrupt returns the entry of a value that may be deleted.
func (s *resourceStore) mayDeleteCorrupt(ctx context.Context, t target, kv *mvccpb.KeyValue, opts storage.DeleteOptions) (*storage.Entry, error) {
	if kv == nil {
		return nil, failed("delete", t.key, 0, storage.ErrNotFound, nil)
	}
	entry, err := s.corruptEntry(ctx, kv)
	if err != nil {
		return nil, refused("delete", t.key, kv.ModRevision, err)
	}
	if opts.Validate != nil {
		if err := opts.Validate(ctx, entry); err != nil {
			return nil, err
		}
	}
	return entry, nil
}
