package watchcache

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// cachedStore is a storage.Interface of one resource. Calls that the cache does not answer go to
// the underlying storage.
type cachedStore struct {
	storage.Interface
	cache    *Cache
	resource *resource
}

var _ storage.Interface = (*cachedStore)(nil)

// Get implements storage.Interface.
func (s *cachedStore) Get(ctx context.Context, key string, opts storage.GetOptions) (*storage.Entry, error) {
	entry, err := s.get(ctx, key, opts)
	s.cache.telemetry.answered(err)
	if err == errNotCached {
		entry, err = s.Interface.Get(ctx, key, opts)
		err = s.cache.observeStorageRead(ctx, err)
	}
	return entry, err
}

// get returns the entry from the cache, or errNotCached.
func (s *cachedStore) get(ctx context.Context, key string, opts storage.GetOptions) (*storage.Entry, error) {
	required, err := opts.Freshness(s.Versioner())
	if err != nil {
		return nil, failed("get", key, 0, err)
	}
	minimum, err := s.await(ctx, "get", key, required)
	if err != nil {
		return nil, err
	}
	entry, err := s.cache.get(s.resource, key, minimum)
	if err == nil && entry == nil {
		err = failed("get", key, 0, storage.ErrNotFound)
	}
	return entry, err
}

// Count implements storage.Interface.
func (s *cachedStore) Count(ctx context.Context, key string) (int64, error) {
	n, err := s.count(ctx, key)
	s.cache.telemetry.answered(err)
	if err == errNotCached {
		return s.Interface.Count(ctx, key)
	}
	return n, err
}

// count returns the number from the cache, or errNotCached.
func (s *cachedStore) count(ctx context.Context, key string) (int64, error) {
	minimum, err := s.await(ctx, "count", key, storage.Freshness{Latest: true})
	if err != nil {
		return 0, err
	}
	state, _, err := s.cache.snapshot(s.resource, minimum)
	if err != nil {
		return 0, err
	}
	prefix := below(key)
	return state.count(prefix, prefix), nil
}

// await waits until the cache has applied the minimum revision of the answer, and returns that
// revision. The error is errNotCached if the storage must answer. Whether the cache may answer is
// checked again when the answer is read: see serves.
func (s *cachedStore) await(ctx context.Context, op, key string, required storage.Freshness) (minimum int64, err error) {
	if !s.covers(key) || !s.cache.loaded.Load() {
		return 0, errNotCached // the storage returns the error of an invalid key
	}
	if err := ctx.Err(); err != nil {
		return 0, failed(op, key, 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err))
	}
	minimum, err = s.cache.minimumRevision(ctx, required)
	if err != nil {
		return 0, failed(op, key, required.Minimum, err)
	}
	if !s.cache.await(ctx, minimum) {
		return 0, errNotCached
	}
	return minimum, nil
}

func (s *cachedStore) covers(key string) bool {
	root := s.resource.root
	return (strings.HasPrefix(key, root) || key == root[:len(root)-1]) && storage.CheckKey(key) == nil
}

// minimumRevision returns the minimum revision of an answer.
func (c *Cache) minimumRevision(ctx context.Context, required storage.Freshness) (int64, error) {
	minimum := max(c.minimum.Load(), required.Minimum)
	if !required.Latest && minimum <= c.applied.Load() {
		return minimum, nil
	}
	current, err := c.cfg.Log.CurrentRevision(ctx)
	current = max(current, c.minimum.Load()) // etcd may report an older revision after an event
	switch {
	case err != nil:
		return 0, err
	case required.Minimum > current:
		return 0, &storage.FutureRevisionError{Requested: required.Minimum, Current: current}
	case required.Latest:
		return current, nil
	default:
		return minimum, nil
	}
}

// observeStorageRead is called after a read that the underlying storage has answered: it raises
// the minimum revision, so that later reads do not go back in time. It returns the error of the
// read.
func (c *Cache) observeStorageRead(ctx context.Context, err error) error {
	current, currentErr := c.cfg.Log.CurrentRevision(ctx)
	if currentErr != nil && err == nil {
		return currentErr
	}
	c.raiseMinimum(current)
	return err
}

// Create implements storage.Interface.
func (s *cachedStore) Create(ctx context.Context, key string, obj runtime.Object, opts storage.CreateOptions) (*storage.Entry, error) {
	entry, err := s.Interface.Create(ctx, key, obj, opts)
	if err == nil {
		s.cache.raiseMinimum(entry.Revision)
		if !opts.DryRun {
			entry = s.cache.share(s.resource, entry)
		}
	}
	return entry, err
}

// GuaranteedUpdate implements storage.Interface.
func (s *cachedStore) GuaranteedUpdate(ctx context.Context, key string, propose storage.ProposeFunc, opts storage.UpdateOptions) (*storage.UpdateResult, error) {
	if opts.Suggestion == nil {
		opts.Suggestion = s.suggest(key)
	}
	result, err := s.Interface.GuaranteedUpdate(ctx, key, propose, opts)
	if err != nil {
		return nil, err
	}
	s.cache.raiseMinimum(result.Entry.Revision)
	if !opts.DryRun && result.Outcome != storage.Deleted {
		result.Entry = s.cache.share(s.resource, result.Entry)
	}
	return result, nil
}

// Delete implements storage.Interface.
func (s *cachedStore) Delete(ctx context.Context, key string, opts storage.DeleteOptions) (*storage.Entry, error) {
	if opts.Suggestion == nil {
		opts.Suggestion = s.suggest(key)
	}
	entry, err := s.Interface.Delete(ctx, key, opts)
	if err == nil {
		s.cache.raiseMinimum(entry.Revision)
	}
	return entry, err
}

// suggest returns the entry that a write starts from. A stale entry costs a transaction, so the
// cache must have applied the writes of this server.
func (s *cachedStore) suggest(key string) *storage.Entry {
	entry, _ := s.cache.get(s.resource, key, s.cache.minimum.Load())
	return entry
}

// below returns the prefix of the keys below key.
func below(key string) string {
	if strings.HasSuffix(key, "/") {
		return key
	}
	return key + "/"
}

func failed(op, key string, revision int64, err error) error {
	var known *storage.KeyError
	if errors.As(err, &known) {
		err = known.Err
	}
	return &storage.KeyError{Op: op, Key: key, Revision: revision, Err: err}
}
