package watchcache

import (
	"cmp"
	"context"

	"github.com/miniapi/miniapi/storage"
)

// listing is one call of GetList.
type listing struct {
	*cachedStore
	key  string // with a slash at the end if the list is recursive
	opts storage.ListOptions
	plan storage.ReadPlan
	// minimum is the oldest revision allowed. The cache has reached it.
	minimum int64
}

// GetList implements storage.Interface.
func (s *cachedStore) GetList(ctx context.Context, key string, opts storage.ListOptions) (*storage.Page, error) {
	page, err := s.list(ctx, key, opts)
	s.cache.telemetry.answered(err)
	if err == errNotCached {
		if page, err = s.Interface.GetList(ctx, key, opts); err == nil {
			s.cache.raiseMinimum(page.Revision)
		}
	}
	return page, err
}

// list returns a page from the cache, or errNotCached.
func (s *cachedStore) list(ctx context.Context, key string, opts storage.ListOptions) (*storage.Page, error) {
	l := &listing{cachedStore: s, key: key, opts: opts}
	if opts.Recursive {
		l.key = below(key)
	}
	var err error
	if l.plan, err = opts.Plan(s.Versioner(), l.key); err != nil {
		return nil, failed("list", l.key, 0, err)
	}
	if l.minimum, err = s.await(ctx, "list", l.key, l.plan.Freshness); err != nil {
		return nil, err
	}
	if page, ok := l.unchanged(); ok {
		return page, nil
	}
	if found, revision, ok := l.indexed(ctx); ok {
		return l.page(ctx, found, revision)
	}
	state, revision, err := l.state(ctx)
	if err != nil {
		return nil, err
	}
	return l.page(ctx, state, revision)
}

// state returns the entries to list and the revision they were read at.
func (l *listing) state(ctx context.Context) (*snapshot, int64, error) {
	if !l.plan.Exact {
		return l.cache.snapshot(l.resource, l.minimum)
	}
	// The window may contain revisions that the storage has compacted. They are rejected, so that
	// the answer does not depend on the number of writes since then.
	if err := l.cache.cfg.Log.Retains(ctx, l.plan.Minimum); err != nil {
		return nil, 0, errNotCached // the storage returns the error
	}
	state, err := l.cache.snapshotAt(l.resource, l.plan.Minimum)
	return state, l.plan.Minimum, err
}

func (l *listing) page(ctx context.Context, state *snapshot, revision int64) (*storage.Page, error) {
	page := &storage.Page{Revision: revision}
	if !l.opts.Recursive {
		return page, l.single(ctx, page, state.get(l.key))
	}
	var err error
	var corrupt storage.CorruptObjects
	last, more := "", false // last is the key of the last entry that was checked
	state.ascend(l.key, l.plan.From, func(entry *storage.Entry) bool {
		if more = l.opts.Limit > 0 && int64(len(page.Entries)) >= l.opts.Limit; more {
			return false
		}
		last = entry.Key
		var selected bool
		if selected, err = l.opts.Predicate.MatchesEntry(ctx, entry); selected {
			page.Entries = append(page.Entries, entry)
		}
		if err != nil {
			err = corrupt.Add(err)
		}
		return err == nil
	})
	if err == nil {
		err = corrupt.Err()
	}
	if err != nil || !more {
		return page, err
	}
	if page.Continue, err = storage.EncodeContinue(last, l.key, revision); err != nil {
		return nil, failed("list", l.key, revision, err)
	}
	if l.opts.Predicate.Empty() {
		remaining := state.count(l.key, last+"\x00")
		page.Remaining = &remaining
	}
	return page, nil
}

func (l *listing) single(ctx context.Context, page *storage.Page, entry *storage.Entry) error {
	if entry == nil {
		return nil
	}
	selected, err := l.opts.Predicate.MatchesEntry(ctx, entry)
	if err != nil {
		var corrupt storage.CorruptObjects
		return cmp.Or(corrupt.Add(err), corrupt.Err())
	}
	if selected {
		page.Entries = []*storage.Entry{entry}
	}
	return nil
}
