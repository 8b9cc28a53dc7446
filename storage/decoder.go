package storage

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/versioner"
)

// NewDecoder returns a decoder of the bytes that codec encodes. It stamps the objects with v.
func NewDecoder(codec Codec, v versioner.Versioner) *Decoder {
	decode := func(_ context.Context, data []byte) (runtime.Object, error) { return codec.Decode(data) }
	if codec, ok := codec.(ContextCodec); ok {
		decode = codec.DecodeContext
	}
	d := &Decoder{corrupt: new(atomic.Bool)}
	d.Decode = func(ctx context.Context, key string, revision int64, data []byte) (runtime.Object, error) {
		obj, err := decode(ctx, data)
		if err == nil {
			err = v.UpdateObject(obj, revision)
		}
		if err != nil && ctx.Err() != nil {
			return nil, interrupted(ctx, key, revision)
		}
		if err != nil {
			return nil, &KeyError{Op: "decode", Key: key, Revision: revision, Err: d.decodeError(err)}
		}
		return obj, nil
	}
	if codec, ok := codec.(MessageCodec); ok {
		d.Message = codec.Message
	}
	return d
}

// interrupted returns the error of a reader whose context ended before the object was decoded.
func interrupted(ctx context.Context, key string, revision int64) error {
	return &KeyError{Op: "decode", Key: key, Revision: revision, Err: fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())}
}

// decodeError wraps err in ErrCorrupt and records that the decoder met a corrupt object. It returns
// a Status unchanged, because a Status does not say that the bytes are corrupt.
func (d *Decoder) decodeError(err error) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return err
	}
	d.corrupt.Store(true)
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// Corrupt returns the entry of bytes that cannot be decoded. Its Object returns err, which must
// wrap ErrCorrupt or be a Status.
func (d *Decoder) Corrupt(key string, revision int64, err error) *Entry {
	if d.corrupt != nil {
		d.corrupt.Store(true)
	}
	broken := &Decoder{
		corrupt: d.corrupt, unreadable: err,
		Decode: func(context.Context, string, int64, []byte) (runtime.Object, error) { return nil, err },
	}
	return broken.Entry(key, revision, nil)
}

// Unreadable returns the error of an entry that Corrupt has made, nil for any other entry.
func (e *Entry) Unreadable() error { return e.decoder.unreadable }

// Verify returns the error of an entry that cannot be decoded, nil for any other entry. Until the
// decoder has met a corrupt object it returns nil without decoding. If decoding waits for another
// process, Verify waits until ctx ends at most.
func (e *Entry) Verify(ctx context.Context) error {
	if c := e.decoder.corrupt; c == nil || !c.Load() || e.attrs.Load() != nil {
		return nil
	}
	_, err := e.peek(ctx)
	return err
}
