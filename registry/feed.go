package registry

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/storage"
)

// Feed is the source of a virtual resource whose objects change. Its revisions are its own and
// never decrease. Safe for concurrent use.
type Feed interface {
	// State returns the objects and their revision.
	State() (entries []*storage.Entry, revision int64)
	// Watch reports the changes. The key of the options is not used.
	Watch(ctx context.Context, opts storage.WatchOptions) (storage.Watcher, error)
}

// feedEntry returns the object of a name.
func (s *virtualStore) feedEntry(name string) (*storage.Entry, error) {
	entries, _ := s.virtual.Feed.State()
	i := slices.IndexFunc(entries, func(e *storage.Entry) bool { return e.Key == name })
	if i < 0 {
		return nil, apierrors.NewNotFound(s.resource.GroupResource(), name)
	}
	return entries[i], nil
}

// listFeed returns the selected objects.
func (s *virtualStore) listFeed(ctx context.Context, req ListRequest) (*storage.Page, error) {
	entries, revision := s.virtual.Feed.State()
	predicate, page := s.predicate(req), &storage.Page{Revision: revision}
	for _, entry := range entries {
		ok, err := predicate.MatchesEntry(ctx, entry)
		if err != nil {
			return nil, err
		}
		if ok {
			page.Entries = append(page.Entries, entry)
		}
	}
	return page, nil
}

// watchFeed reports the changes of the selected objects.
func (s *virtualStore) watchFeed(ctx context.Context, req ListRequest) (storage.Watcher, error) {
	watcher, err := s.virtual.Feed.Watch(ctx, storage.WatchOptions{
		Recursive: true, Predicate: s.predicate(req), ResourceVersion: req.ResourceVersion,
		SendInitialEvents: req.SendInitialEvents, ProgressNotify: req.AllowWatchBookmarks,
	})
	if err != nil {
		return nil, s.call("watch", "", "").interpret(err)
	}
	return watcher, nil
}

func (s *virtualStore) predicate(req ListRequest) storage.Predicate {
	return storage.Predicate{Label: req.Label, Field: req.Field, Attrs: s.resource.attributes}
}
