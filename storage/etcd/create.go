package etcd

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

var (
	// errVersionOnCreate has the text of kube-apiserver.
	errVersionOnCreate = errors.New("resourceVersion should not be set on objects to be created")
	errNegativeTTL     = errors.New("the time to live must not be negative")
)

// Create implements storage.Interface.
func (s *resourceStore) Create(ctx context.Context, key string, obj runtime.Object, opts storage.CreateOptions) (*storage.Entry, error) {
	t, err := s.target("create", key)
	if err != nil {
		return nil, err
	}
	data, err := s.encodeNew(obj, opts)
	if err != nil {
		return nil, rejected("create", key, 0, err)
	}
	if opts.DryRun {
		return s.createDryRun(ctx, t, data)
	}
	txn, err := s.put(ctx, guardedWrite{op: "create", target: t, data: data, ttl: opts.TTL, unique: hasUID(obj)})
	if err != nil {
		return nil, err
	}
	if !txn.succeeded {
		return nil, failed("create", key, 0, storage.ErrExists, nil)
	}
	return s.entry(key, data, txn.revision), nil
}

func (s *resourceStore) encodeNew(obj runtime.Object, opts storage.CreateOptions) ([]byte, error) {
	if opts.TTL < 0 {
		return nil, errNegativeTTL
	}
	revision, err := s.versioner.ObjectResourceVersion(obj)
	if err != nil {
		return nil, err
	}
	if revision != 0 {
		return nil, errVersionOnCreate
	}
	return s.encodeShared(obj)
}

func (s *resourceStore) createDryRun(ctx context.Context, t target, data []byte) (*storage.Entry, error) {
	resp, err := s.kv.Get(ctx, t.path, s.consistent(clientv3.WithCountOnly())...)
	if err != nil {
		return nil, readError("create", t.key, err)
	}
	if resp.Count > 0 {
		return nil, failed("create", t.key, 0, storage.ErrExists, nil)
	}
	return s.entry(t.key, data, 0), nil
}
