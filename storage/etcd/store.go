package etcd

import (
	"context"
	"errors"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// resourceStore is the store of one resource. It is stateless.
type resourceStore struct {
	*Backend
	codec     storage.Codec
	versioner versioner.Versioner
	decoder   *storage.Decoder
}

var _ storage.Interface = (*resourceStore)(nil)

// Versioner implements storage.Interface.
func (s *resourceStore) Versioner() versioner.Versioner { return s.versioner }

// entry returns the entry of an encoded object.
func (s *resourceStore) entry(key string, data []byte, revision int64) *storage.Entry {
	return s.decoder.Entry(key, revision, data)
}

// entryOf returns the entry of a value in etcd.
func (s *resourceStore) entryOf(ctx context.Context, kv *mvccpb.KeyValue) (*storage.Entry, error) {
	key := s.key(kv.Key)
	data, _, err := s.fromStorage(ctx, key, kv.Value)
	if err != nil {
		return nil, err
	}
	return s.entry(key, data, kv.ModRevision), nil
}

// corruptEntry returns the entry of a value that cannot be decoded, or storage.ErrNotCorrupt for
// any other value.
func (s *resourceStore) corruptEntry(ctx context.Context, kv *mvccpb.KeyValue) (*storage.Entry, error) {
	entry, err := s.entryOf(ctx, kv)
	if err == nil {
		_, err = entry.ObjectContext(ctx)
	}
	switch {
	case err == nil:
		return nil, storage.ErrNotCorrupt
	case !errors.Is(err, storage.ErrCorrupt):
		return nil, err
	}
	return s.decoder.Corrupt(s.key(kv.Key), kv.ModRevision, err), nil
}

// fromStorage returns the bytes of a stored value as the codec encoded them. stale reports whether
// the transformer requests a rewrite. The error wraps ErrCorrupt, or ErrUnavailable if ctx has
// ended, or is a Status of the transformer. Internal keys are not transformed.
func (b *Backend) fromStorage(ctx context.Context, key string, value []byte) (data []byte, stale bool, err error) {
	if strings.HasPrefix(key, internalKeys) {
		return value, false, nil
	}
	data, stale, err = b.cfg.Transformer.FromStorage(ctx, value, b.cfg.Prefix+key)
	switch {
	case err == nil:
		return data, stale, nil
	case ctx.Err() != nil: // the error does not mean that the bytes are corrupt
		return nil, false, failed("transform", key, 0, storage.ErrUnavailable, ctx.Err())
	case isStatus(err):
		return nil, false, rejected("transform", key, 0, err)
	}
	return nil, false, failed("transform", key, 0, storage.ErrCorrupt, err)
}

// isStatus reports whether an error is a Status, which does not say that the bytes are corrupt.
func isStatus(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// encode returns the encoded bytes of an object. It removes its resourceVersion and selfLink.
func (s *resourceStore) encode(obj runtime.Object) ([]byte, error) {
	if err := s.versioner.PrepareObjectForStorage(obj); err != nil {
		return nil, err
	}
	return s.codec.Encode(obj)
}

// encodeShared returns the encoded bytes of an object without modifying it.
func (s *resourceStore) encodeShared(obj runtime.Object) ([]byte, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	if accessor.GetResourceVersion() == "" && accessor.GetSelfLink() == "" {
		return s.codec.Encode(obj) // there is nothing to remove, so no copy is made
	}
	return s.encode(obj.DeepCopyObject())
}
