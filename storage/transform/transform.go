// Package transform is the seam for what happens to bytes between the encoder
// and etcd, such as encryption at rest. Today there is [Identity] alone.
package transform

import "context"

// Transformer changes the bytes at rest. The full key goes along as
// authenticated data, so that a value moved to another key is found out.
// Implementations are safe for concurrent use.
type Transformer interface {
	// ToStorage returns the bytes to store under key. It need not be
	// deterministic.
	ToStorage(ctx context.Context, data []byte, key string) ([]byte, error)
	// FromStorage returns the bytes that ToStorage was given. stale reports
	// that they should be written again, for instance because the key they
	// were encrypted with is no longer the first one.
	FromStorage(ctx context.Context, data []byte, key string) (out []byte, stale bool, err error)
}

// Identity stores bytes as they are.
type Identity struct{}

var _ Transformer = Identity{}

// ToStorage implements Transformer.
func (Identity) ToStorage(_ context.Context, data []byte, _ string) ([]byte, error) { return data, nil }

// FromStorage implements Transformer.
func (Identity) FromStorage(_ context.Context, data []byte, _ string) ([]byte, bool, error) {
	return data, false, nil
}
