package registry

import (
	"context"

	"github.com/miniapi/miniapi/storage"
)

// List returns the objects that a request selects. A limit divides them into
// pages, unless the resourceVersion is "0". The page of a virtual resource has no
// revision.
func (s *Store) List(ctx context.Context, req ListRequest) (*storage.Page, error) {
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

// Watch reports what happens to the objects that a request selects, until ctx
// ends or the resource is taken out of the catalog. The Err of an Error event is
// one of storage's: EventError returns what clients see of it.
func (s *Store) Watch(ctx context.Context, req ListRequest) (storage.Watcher, error) {
	req.Continue = "" // has no meaning for a watch
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
	})
	switch {
	case err == nil:
		return watcher, nil
	case s.served.Err() != nil: // as if it had begun in time
		return newEndedWatch(), nil
	default:
		return nil, s.call("watch", "", selected.key).interpret(err)
	}
}

// endedWatch is a watch that reports nothing: its store was retired as it began. Its client
// watches again and reaches the store that serves the resource now.
type endedWatch chan storage.Event

func newEndedWatch() endedWatch {
	events := make(endedWatch)
	close(events)
	return events
}

// Events implements storage.Watcher.
func (w endedWatch) Events() <-chan storage.Event { return w }

// Stop implements storage.Watcher.
func (endedWatch) Stop() {}
