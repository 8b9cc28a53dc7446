package encryption

import (
	"bytes"
	"context"
	"errors"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/storage/value"
)

// chain is a list of transformers, each for the values with a prefix. The first one writes.
type chain struct {
	links []link
	// missing is the error of a value without a matching prefix.
	missing error
	metrics *metrics
}

// link is a transformer for the values with a prefix, "" for values that are not encrypted.
type link struct {
	prefix string
	value.Transformer
}

// toStorage encrypts data and puts the prefix of the first link before it.
func (c *chain) toStorage(ctx context.Context, data []byte, of target) ([]byte, error) {
	first, began := c.links[0], time.Now()
	out, err := first.TransformToStorage(ctx, data, of)
	c.metrics.record(operation{toStorage, of, first.prefix}, began, err)
	if err != nil || first.prefix == "" {
		return out, err
	}
	return append([]byte(first.prefix), out...), nil
}

// fromStorage decrypts data with the first matching link that can. stale reports whether the first
// link would write the data differently.
func (c *chain) fromStorage(ctx context.Context, data []byte, of target) (out []byte, stale bool, err error) {
	began := time.Now()
	var errs []error
	for i, link := range c.links {
		if !bytes.HasPrefix(data, []byte(link.prefix)) {
			continue
		}
		out, stale, err := link.TransformFromStorage(ctx, data[len(link.prefix):], of)
		if err != nil && link.prefix == "" {
			continue // the value is encrypted
		}
		c.metrics.record(operation{fromStorage, of, link.prefix}, began, err)
		if err == nil {
			return out, stale || i > 0, nil
		}
		errs = append(errs, err) // a later provider of the same type may have the key
	}
	if len(errs) > 0 {
		return nil, false, utilerrors.Reduce(utilerrors.NewAggregate(errs))
	}
	c.metrics.record(operation{fromStorage, of, "unknown"}, began, c.missing)
	return nil, false, c.missing
}

// TransformToStorage implements value.Transformer, for a chain of keys within a provider.
func (c *chain) TransformToStorage(ctx context.Context, data []byte, of value.Context) ([]byte, error) {
	return c.toStorage(ctx, data, of.(target))
}

// TransformFromStorage implements value.Transformer.
func (c *chain) TransformFromStorage(ctx context.Context, data []byte, of value.Context) ([]byte, bool, error) {
	return c.fromStorage(ctx, data, of.(target))
}

// target is the key of a value and its resource. It is the value.Context of a transformation.
type target struct {
	key, resource string
}

// AuthenticatedData implements value.Context.
func (t target) AuthenticatedData() []byte { return []byte(t.key) }

var (
	errNoPrefix    = errors.New("no matching prefix found")
	errNoAESKey    = errors.New("no matching key was found for the provided AES transformer")
	errNoSecretbox = errors.New("no matching key was found for the provided Secretbox transformer")
)
