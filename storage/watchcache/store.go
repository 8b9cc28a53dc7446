package watchcache

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// cachedStore is one resource as the registry sees it. What it does not answer
// itself the storage behind does.
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
		err = s.cache.answered(ctx, err)
	}
	return entry, err
}

// get answers from the cache, or with errNotCached.
func (s *cachedStore) get(ctx context.Context, key string, opts storage.GetOptions) (*storage.Entry, error) {
	asked, err := opts.Freshness(s.Versioner())
	if err != nil {
		return nil, failed("get", key, 0, err)
	}
	minimum, err := s.await(ctx, "get", key, asked)
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

// count answers from the cache, or with errNotCached.
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

// await returns the revision that an answer must not be older than, once the cache has reached it.
// The error is errNotCached if the storage has to answer. That the cache may answer is only known
// when the answer is taken: see serves.
func (s *cachedStore) await(ctx context.Context, op, key string, asked storage.Freshness) (minimum int64, err error) {
	if !s.covers(key) || !s.cache.loaded.Load() {
		return 0, errNotCached // the storage says what is wrong with a key
	}
	if err := ctx.Err(); err != nil {
		return 0, failed(op, key, 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err))
	}
	minimum, err = s.cache.needed(ctx, asked)
	if err != nil {
		return 0, failed(op, key, asked.Minimum, err)
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

// needed returns the revision that an answer must not be older than.
func (c *Cache) needed(ctx context.Context, asked storage.Freshness) (int64, error) {
	floor := max(c.floor.Load(), asked.Minimum)
	if !asked.Latest && floor <= c.reached.Load() {
		return floor, nil
	}
	current, err := c.cfg.Log.CurrentRevision(ctx)
	switch {
	case err != nil:
		return 0, err
	case asked.Minimum > current:
		return 0, &storage.FutureRevisionError{Asked: asked.Minimum, Current: current}
	case asked.Latest:
		return current, nil
	default:
		return floor, nil
	}
}

// answered is called after a read that the storage behind has answered: no
// later one may go back before it. It returns the error of the read.
func (c *Cache) answered(ctx context.Context, err error) error {
	current, currentErr := c.cfg.Log.CurrentRevision(ctx)
	if currentErr != nil && err == nil {
		return currentErr
	}
	c.raise(current)
	return err
}

// Create implements storage.Interface.
func (s *cachedStore) Create(ctx context.Context, key string, obj runtime.Object, opts storage.CreateOptions) (*storage.Entry, error) {
	entry, err := s.Interface.Create(ctx, key, obj, opts)
	if err == nil {
		s.cache.raise(entry.Revision)
	}
	return entry, err
}

// GuaranteedUpdate implements storage.Interface.
func (s *cachedStore) GuaranteedUpdate(ctx context.Context, key string, propose storage.ProposeFunc, opts storage.UpdateOptions) (*storage.UpdateResult, error) {
	if opts.Suggestion == nil {
		opts.Suggestion = s.suggest(key)
	}
	result, err := s.Interface.GuaranteedUpdate(ctx, key, propose, opts)
	if err == nil {
		s.cache.raise(result.Entry.Revision)
	}
	return result, err
}

// Delete implements storage.Interface.
func (s *cachedStore) Delete(ctx context.Context, key string, opts storage.DeleteOptions) (*storage.Entry, error) {
	if opts.Suggestion == nil {
		opts.Suggestion = s.suggest(key)
	}
	entry, err := s.Interface.Delete(ctx, key, opts)
	if err == nil {
		s.cache.raise(entry.Revision)
	}
	return entry, err
}

// suggest returns what a write may start from. One that is out of date costs a
// transaction, so the cache must have seen what this server has written.
func (s *cachedStore) suggest(key string) *storage.Entry {
	entry, _ := s.cache.get(s.resource, key, s.cache.floor.Load())
	return entry
}

// below returns the key of everything below key.
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
