// Package transform has the interface for the transformation of bytes between the encoder and etcd,
// and [Identity], which stores them unchanged. Package encryption implements encryption at rest.
package transform

import (
	"bytes"
	"context"
	"fmt"
)

// Transformer transforms stored bytes. It receives the full key as authenticated data, so that it
// can detect a value that was moved to another key. Implementations are safe for concurrent use.
type Transformer interface {
	// ToStorage returns the bytes to store under key. It may be nondeterministic.
	ToStorage(ctx context.Context, data []byte, key string) ([]byte, error)
	// FromStorage returns the bytes that were passed to ToStorage. stale reports whether they
	// should be written again, for example because their encryption key is no longer the first
	// one. An error that is a Status means that data is not corrupt but cannot be read at present.
	FromStorage(ctx context.Context, data []byte, key string) (out []byte, stale bool, err error)
}

// Observable is a Transformer that may be able to read later what it cannot read now.
type Observable interface {
	Transformer
	// Changed returns a channel that is closed when values that FromStorage could not read after
	// the call may have become readable.
	Changed() <-chan struct{}
}

// Identity is the Transformer that stores bytes unchanged. It does not read encrypted values.
type Identity struct{}

var _ Transformer = Identity{}

// ToStorage implements Transformer.
func (Identity) ToStorage(_ context.Context, data []byte, _ string) ([]byte, error) { return data, nil }

// FromStorage implements Transformer. The error of an encrypted value begins with the text of
// kube-apiserver and names the provider.
func (Identity) FromStorage(_ context.Context, data []byte, _ string) ([]byte, bool, error) {
	if prefix := EncryptionPrefix(data); prefix != "" {
		return nil, false, fmt.Errorf("identity transformer tried to read encrypted data: the value has the prefix %s", prefix)
	}
	return data, false, nil
}

// encrypted begins all values that kube-apiserver has encrypted.
const encrypted = "k8s:enc:"

// maxPrefix limits a prefix in texts.
const maxPrefix = 256

// EncryptionPrefix returns the prefix k8s:enc:PROVIDER:VERSION:NAME: of an encrypted value, where
// NAME is the name of the key or of the KMS provider, or the part of it that the value has. It
// returns "" for other values.
func EncryptionPrefix(data []byte) string {
	if !bytes.HasPrefix(data, []byte(encrypted)) {
		return ""
	}
	end := len(encrypted)
	for range 3 {
		next := bytes.IndexByte(data[end:min(len(data), maxPrefix)], ':')
		if next < 0 {
			break
		}
		end += next + 1
	}
	return string(data[:end])
}
