package watchcache

import (
	"cmp"
	"context"

	"github.com/miniapi/miniapi/storage"
)

// listing is one call of GetList.
type listing struct {
	*cachedStore
	key  string // "/pods/" of "/pods" where it is recursive
	opts storage.ListOptions
	plan storage.ReadPlan
	// reached is the oldest revision allowed, once the cache has reached it.
	reached int64
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

// list answers from the cache, or with errNotCached.
func (s *cachedStore) list(ctx context.Context, key string, opts storage.ListOptions) (*storage.Page, error) {
	l := &listing{cachedStore: s, key: key, opts: opts}
	if opts.Recursive {
		l.key = below(key)
	}
	var err error
	if l.plan, err = opts.Plan(s.Versioner(), l.key); err != nil {
		return nil, failed("list", l.key, 0, err)
	}
	if l.reached, err = s.await(ctx, "list", l.key, l.plan.Freshness); err != nil {
		return nil, err
	}
	if page, ok := l.unchanged(); ok {
		return page, nil
	}
	if page, ok := l.listFromIndex(ctx); ok {
		return page, nil
	}
	state, revision, err := l.state(ctx)
	if err != nil {
		return nil, err
	}
	return l.page(ctx, state, revision)
}

// state returns what is to be listed, and its revision.
func (l *listing) state(ctx context.Context) (*snapshot, int64, error) {
	if !l.plan.Exact {
		return l.cache.snapshot(l.resource, l.reached)
	}
	// The window may reach back further than the storage. A revision that is
	// compacted is refused all the same: an answer that depends on how much was
	// written since would be of no use to anybody.
	if err := l.cache.cfg.Log.Retains(ctx, l.plan.Minimum); err != nil {
		return nil, 0, errNotCached // the storage says what is wrong with it
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
	last, more := "", false
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
