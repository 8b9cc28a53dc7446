package storage

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/versioner"
)

// NewDecoder returns the decoder of what codec encoded, whose objects v stamps.
func NewDecoder(codec Codec, v versioner.Versioner) *Decoder {
	d := &Decoder{Decode: func(key string, revision int64, data []byte) (runtime.Object, error) {
		obj, err := codec.Decode(data)
		if err == nil {
			err = v.UpdateObject(obj, revision)
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
	d := &Decoder{Decode: func(string, int64, []byte) (runtime.Object, error) { return nil, err }}
	return d.Entry(key, revision, nil)
}
