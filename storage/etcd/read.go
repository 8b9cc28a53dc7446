package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
)

// Get implements storage.Interface.
func (s *resourceStore) Get(ctx context.Context, key string, opts storage.GetOptions) (*storage.Entry, error) {
	t, err := s.target("get", key)
	if err != nil {
		return nil, err
	}
	fresh, err := opts.Freshness(s.versioner)
	if err != nil {
		return nil, rejected("get", key, 0, err)
	}
	resp, err := s.kv.Get(ctx, t.path, s.readOptions(fresh)...)
	if err != nil {
		return nil, readError("get", key, err)
	}
	if current := resp.Header.Revision; fresh.Minimum > current {
		return nil, tooFarAhead("get", key, fresh.Minimum, current)
	}
	if len(resp.Kvs) == 0 {
		return nil, failed("get", key, 0, storage.ErrNotFound, nil)
	}
	return s.entryOf(ctx, resp.Kvs[0])
}

// Count implements storage.Interface.
func (s *resourceStore) Count(ctx context.Context, key string) (int64, error) {
	t, err := s.scope("count", key, true)
	if err != nil {
		return 0, err
	}
	resp, err := s.kv.Get(ctx, t.path, s.consistent(clientv3.WithPrefix(), clientv3.WithCountOnly())...)
	if err != nil {
		return 0, readError("count", key, err)
	}
	return resp.Count, nil
}

// tooFarAhead returns the error of a read at a revision ahead of the store.
func tooFarAhead(op, key string, requested, current int64) error {
	return rejected(op, key, requested, &storage.FutureRevisionError{Requested: requested, Current: current})
}
