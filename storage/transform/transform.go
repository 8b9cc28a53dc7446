// Package transform has the interface for the transformation of bytes between the encoder and etcd,
// such as encryption at rest. [Identity] is its only implementation.
package transform

import "context"

// Transformer transforms stored bytes. It receives the full key as authenticated data, so that it
// can detect a value that was moved to another key. Implementations are safe for concurrent use.
type Transformer interface {
	// ToStorage returns the bytes to store under key. It may be nondeterministic.
	ToStorage(ctx context.Context, data []byte, key string) ([]byte, error)
	// FromStorage returns the bytes that were passed to ToStorage. stale reports whether they
	// should be written again, for example because their encryption key is no longer the first
	// one.
	FromStorage(ctx context.Context, data []byte, key string) (out []byte, stale bool, err error)
}

// Identity is the Transformer that stores bytes unchanged.
type Identity struct{}

var _ Transformer = Identity{}

// ToStorage implements Transformer.
func (Identity) ToStorage(_ context.Context, data []byte, _ string) ([]byte, error) { return data, nil }

// FromStorage implements Transformer.
func (Identity) FromStorage(_ context.Context, data []byte, _ string) ([]byte, bool, error) {
	return data, false, nil
}
