package registry

import (
	"context"

	"github.com/miniapi/miniapi/storage"
)

// List returns the selected objects. A limit divides them into pages, unless the resourceVersion
// is "0".
func (s *Store) List(ctx context.Context, req ListRequest) (_ *storage.Page, err error) {
	ctx, end := s.span(ctx, "list")
	defer end(&err)
	selected, err := s.selection(req)
	if err != nil {
		return nil, err
	}
	opts := storage.ListOptions{
		Recursive:            selected.recursive,
		Predicate:            selected.predicate,
		ResourceVersion:      req.ResourceVersion,
		ResourceVersionMatch: req.ResourceVersionMatch,
		Limit:                req.limit(),
		Continue:             req.Continue,
		KnownRevision:        req.KnownRevision,
	}
	page, err := s.storage.GetList(ctx, selected.key, opts)
	if err != nil {
		failed := s.call("list", "", selected.key)
		failed.list, failed.exactObject = &req, !opts.Recursive && s.readsExactly(selected.key, opts)
		return nil, failed.interpret(err)
	}
	return page, nil
}

// Count returns the number of objects in all namespaces. It does not read their values.
func (s *Store) Count(ctx context.Context) (int64, error) {
	key := "/" + s.resource.StoragePath + "/"
	count, err := s.storage.Count(ctx, key)
	return count, s.call("count", "", key).interpret(err)
}

// Watch sends the changes of the selected objects until ctx ends or the resource is removed from
// the catalog. Resource.EventError converts the Err of an Error event.
func (s *Store) Watch(ctx context.Context, req ListRequest) (storage.Watcher, error) {
	req.Continue = "" // not supported by a watch
	selected, err := s.selection(req)
	if err != nil {
		return nil, err
	}
	watcher, err := s.storage.Watch(s.whileServed(ctx), selected.key, storage.WatchOptions{
		Recursive:         selected.recursive,
		Predicate:         selected.predicate,
		ResourceVersion:   req.ResourceVersion,
		SendInitialEvents: req.SendInitialEvents,
		ProgressNotify:    req.AllowWatchBookmarks,
		ProgressRequests:  req.ProgressRequests,
	})
	switch {
	case err == nil:
		return watcher, nil
	case s.served.Err() != nil: // like a watch that began earlier
		return newEndedWatch(), nil
	default:
		return nil, s.call("watch", "", selected.key).interpret(err)
	}
}

// endedWatch is a watch without events, for a store that was retired while the watch began. The
// client watches again and reaches the store that serves the resource now.
type endedWatch chan storage.Event

func newEndedWatch() endedWatch {
	events := make(endedWatch)
	close(events)
	return events
}

// Events implements storage.Watcher.
func (w endedWatch) Events() <-chan storage.Event { return w }

// Progress implements storage.Watcher.
func (endedWatch) Progress() storage.WatchProgress { return storage.WatchProgress{} }

// Stop implements storage.Watcher.
func (endedWatch) Stop() {}
