package storage

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/versioner"
)

// NewDecoder returns the decoder of what codec encoded, whose objects v stamps.
func NewDecoder(codec Codec, v versioner.Versioner) *Decoder {
	decode := func(_ context.Context, data []byte) (runtime.Object, error) { return codec.Decode(data) }
	if codec, ok := codec.(ContextCodec); ok {
		decode = codec.DecodeContext
	}
	d := &Decoder{Decode: func(ctx context.Context, key string, revision int64, data []byte) (runtime.Object, error) {
		obj, err := decode(ctx, data)
		if err == nil {
			err = v.UpdateObject(obj, revision)
		}
		if err != nil && ctx.Err() != nil {
			return nil, interrupted(ctx, key, revision)
		}
		if err != nil {
			return nil, &KeyError{Op: "decode", Key: key, Revision: revision, Err: undecoded(err)}
		}
		return obj, nil
	}}
	if codec, ok := codec.(MessageCodec); ok {
		d.Message = codec.Message
	}
	return d
}

// interrupted returns the error of a reader whose context has ended before the object was decoded.
func interrupted(ctx context.Context, key string, revision int64) error {
	return &KeyError{Op: "decode", Key: key, Revision: revision, Err: fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())}
}

// undecoded: an error that is a Status is not about the bytes.
func undecoded(err error) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// BrokenEntry returns the entry of bytes that cannot be read: err, which wraps
// ErrCorrupt, is what its object comes to.
func BrokenEntry(key string, revision int64, err error) *Entry {
	d := &Decoder{Decode: func(context.Context, string, int64, []byte) (runtime.Object, error) { return nil, err }}
	return d.Entry(key, revision, nil)
}
