package encryption

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/miniapi/miniapi/storage/transform"
)

// Encryption is the transformer of an EncryptionConfiguration. It is safe for concurrent use.
type Encryption struct {
	config  Config
	current atomic.Pointer[providers]
	// changed is closed and replaced when values may have become readable.
	changed atomic.Pointer[chan struct{}]
	metrics *metrics
}

var _ transform.Observable = (*Encryption)(nil)

// Open loads the file, connects to the KMS plugins and requests a data key from each. A plugin that
// does not answer is no error: the values of its provider cannot be read or written until it does.
// The caller must call Run, and Close afterwards.
func Open(ctx context.Context, config Config) (*Encryption, error) {
	e := &Encryption{config: config.withDefaults(), metrics: newMetrics()}
	f, err := loadFile(e.config.File, e.config.AutomaticReload)
	if err != nil {
		return nil, err
	}
	e.config.warnOfMode()
	loaded, err := newProviders(f, e.metrics)
	if err != nil {
		return nil, fmt.Errorf("encryption configuration %s: %w", e.config.File, err)
	}
	e.current.Store(loaded)
	e.metrics.reloads.SetHash(loaded.hash)
	e.announce()
	for _, provider := range loaded.kms {
		if err := provider.check(ctx); err != nil {
			e.config.Logger.WarnContext(ctx, "a KMS plugin failed", "provider", provider.name, "error", err)
		}
	}
	return e, nil
}

// Close closes the connections to the KMS plugins. Run must have returned.
func (e *Encryption) Close() error { return e.current.Load().close() }

// Changed implements transform.Observable: the channel is closed when a file was loaded, or a KMS
// plugin has recovered.
func (e *Encryption) Changed() <-chan struct{} { return *e.changed.Load() }

// announce closes the channel that Changed returned.
func (e *Encryption) announce() {
	next := make(chan struct{})
	if last := e.changed.Swap(&next); last != nil {
		close(*last)
	}
}

// ToStorage implements transform.Transformer.
func (e *Encryption) ToStorage(ctx context.Context, data []byte, key string) ([]byte, error) {
	c, of, ok := e.find(key)
	if !ok {
		return data, nil
	}
	return c.toStorage(ctx, data, of)
}

// FromStorage implements transform.Transformer. The error of an encrypted value contains the
// prefix of the value, which names the provider and its key.
func (e *Encryption) FromStorage(ctx context.Context, data []byte, key string) (out []byte, stale bool, err error) {
	c, of, ok := e.find(key)
	if !ok {
		out, stale, err = transform.Identity{}.FromStorage(ctx, data, key)
		if err != nil {
			err = fmt.Errorf("%w, and the encryption configuration has no provider for %s", err, of.resource)
		}
		return out, stale, err
	}
	out, stale, err = c.fromStorage(ctx, data, of)
	if errors.Is(err, errNoPrefix) {
		err = fmt.Errorf("%w: no provider of %s in the encryption configuration reads %s", err, of.resource, describe(data))
	}
	return out, stale, err
}

// describe names the encryption of a stored value.
func describe(data []byte) string {
	if prefix := transform.EncryptionPrefix(data); prefix != "" {
		return "values with the prefix " + prefix
	}
	return "values that are not encrypted"
}

// find returns the providers of a key. It returns false if none is configured.
func (e *Encryption) find(key string) (*chain, target, bool) {
	resource := e.config.resourceOf(key)
	c, ok := e.current.Load().chains.find(resource)
	return c, target{key: key, resource: resource.String()}, ok
}
