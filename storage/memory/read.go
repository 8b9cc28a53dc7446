package memory

import (
	"context"

	"github.com/miniapi/miniapi/storage"
)

// Get implements storage.Interface.
func (s *Store) Get(_ context.Context, key string, opts storage.GetOptions) (*storage.Entry, error) {
	fresh, err := opts.Freshness(s.versioner)
	if err != nil {
		return nil, failed("get", key, err)
	}
	s.refresh()
	entry, revision := s.entry(key)
	if err := checkRevision("get", key, fresh.Minimum, revision); err != nil {
		return nil, err
	}
	if entry == nil {
		return nil, failed("get", key, storage.ErrNotFound)
	}
	return entry, nil
}

// GetList implements storage.Interface. It returns all entries on one page.
func (s *Store) GetList(ctx context.Context, key string, opts storage.ListOptions) (*storage.Page, error) {
	prefix := key
	if opts.Recursive {
		prefix = below(key)
	}
	plan, err := opts.Plan(s.versioner, prefix)
	if err != nil {
		return nil, failed("list", key, err)
	}
	s.refresh()
	entries, revision := s.state(prefix)
	if err := checkRevision("list", key, plan.Minimum, revision); err != nil {
		return nil, err
	}
	if plan.Exact && plan.Minimum < revision {
		return nil, failed("list", key, storage.ErrCompacted)
	}
	page := &storage.Page{Revision: revision}
	for _, entry := range entries {
		if entry.Key < plan.From || !opts.Recursive && entry.Key != key {
			continue
		}
		selected, err := opts.Predicate.MatchesEntry(ctx, entry)
		if err != nil {
			return nil, err
		}
		if selected {
			page.Entries = append(page.Entries, entry)
		}
	}
	return page, nil
}

// History implements storage.Interface. Only the present version is known.
func (s *Store) History(_ context.Context, key string) (*storage.History, error) {
	s.refresh()
	entry, revision := s.entry(key)
	history := &storage.History{Oldest: revision}
	if entry != nil {
		history.Versions = []storage.Version{{Revision: entry.Revision, Entry: entry}}
	}
	return history, nil
}
