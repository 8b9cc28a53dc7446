package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// resourceStore is the store of one resource. It has no state of its own.
type resourceStore struct {
	*Backend
	codec     storage.Codec
	versioner versioner.Versioner
	decoder   *storage.Decoder
}

var _ storage.Interface = (*resourceStore)(nil)

// Versioner implements storage.Interface.
func (s *resourceStore) Versioner() versioner.Versioner { return s.versioner }

// entry returns the entry of an encoded object, decoded when it is asked for.
func (s *resourceStore) entry(key string, data []byte, revision int64) *storage.Entry {
	return s.decoder.Entry(key, revision, data)
}

// entryOf returns the entry of what etcd holds.
func (s *resourceStore) entryOf(ctx context.Context, kv *mvccpb.KeyValue) (*storage.Entry, error) {
	key := s.key(kv.Key)
	data, _, err := s.fromStorage(ctx, key, kv.Value)
	if err != nil {
		return nil, err
	}
	return s.entry(key, data, kv.ModRevision), nil
}

// corruptEntry returns the entry of a value that cannot be decoded, and
// storage.ErrNotCorrupt if it can.
func (s *resourceStore) corruptEntry(ctx context.Context, kv *mvccpb.KeyValue) (*storage.Entry, error) {
	entry, err := s.entryOf(ctx, kv)
	if err == nil {
		_, err = entry.Object()
	}
	switch {
	case err == nil:
		return nil, storage.ErrNotCorrupt
	case !errors.Is(err, storage.ErrCorrupt):
		return nil, err
	}
	return s.decoder.Corrupt(s.key(kv.Key), kv.ModRevision, err), nil
}

func (b *Backend) fromStorage(ctx context.Context, key string, value []byte) (data []byte, stale bool, err error) {
	data, stale, err = b.cfg.Transformer.FromStorage(ctx, value, b.cfg.Prefix+key)
	switch {
	case err == nil:
		return data, stale, nil
	case ctx.Err() != nil: // it says nothing about the bytes
		return nil, false, failed("transform", key, 0, storage.ErrUnavailable, ctx.Err())
	}
	return nil, false, failed("transform", key, 0, storage.ErrCorrupt, err)
}

// encode returns the bytes of an object that the caller may write to.
func (s *resourceStore) encode(obj runtime.Object) ([]byte, error) {
	if err := s.versioner.PrepareObjectForStorage(obj); err != nil {
		return nil, err
	}
	return s.codec.Encode(obj)
}

// encodeShared returns the bytes of an object that others may be reading.
func (s *resourceStore) encodeShared(obj runtime.Object) ([]byte, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	if accessor.GetResourceVersion() == "" && accessor.GetSelfLink() == "" {
		return s.codec.Encode(obj) // nothing to strip, so no copy is needed
	}
	return s.encode(obj.DeepCopyObject())
}
