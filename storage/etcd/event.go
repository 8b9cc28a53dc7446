package etcd

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

var errNoPreviousValue = errors.New("the value before the event is gone")

// translate makes an event of etcd one of the watch. With a predicate it
// compares what was with what is: the zero event stands for nothing to report.
func (w *watcher) translate(ctx context.Context, e *clientv3.Event) (event storage.Event, size int, err error) {
	var before, after *storage.Entry
	if !e.IsCreate() && (e.Type == clientv3.EventTypeDelete || !w.opts.Predicate.Empty()) {
		if before, err = w.previous(ctx, e); err != nil {
			return storage.Event{}, 0, err
		}
	}
	if e.Type != clientv3.EventTypeDelete {
		if after, err = w.store.entryOf(ctx, e.Kv); err != nil {
			return storage.Event{}, 0, err
		}
	}
	event, err = w.compare(e, before, after)
	event.Revision = e.Kv.ModRevision
	return event, eventSize(e), err
}

// compare decides what a change means to a watch that selects. Whether there
// was a value before is known without the entry, which the empty predicate
// does not need.
func (w *watcher) compare(e *clientv3.Event, before, after *storage.Entry) (storage.Event, error) {
	selected := func(entry *storage.Entry) (bool, error) {
		if entry == nil {
			return false, nil
		}
		return w.opts.Predicate.MatchesEntry(entry)
	}
	was, err := selected(before)
	if err != nil {
		return storage.Event{}, err
	}
	is, err := selected(after)
	if err != nil {
		return storage.Event{}, err
	}
	if w.opts.Predicate.Empty() {
		was = !e.IsCreate()
	}
	switch {
	case is && was:
		return storage.Event{Type: watch.Modified, Entry: after}, nil
	case is:
		return storage.Event{Type: watch.Added, Entry: after}, nil
	case was:
		return storage.Event{Type: watch.Deleted, Entry: before}, nil
	default:
		return storage.Event{}, nil
	}
}

// previous returns the value before an event, stamped with the revision of the
// event. If etcd has compacted it the watch cannot go on.
func (w *watcher) previous(ctx context.Context, e *clientv3.Event) (*storage.Entry, error) {
	key, revision := w.store.key(e.Kv.Key), e.Kv.ModRevision
	if e.PrevKv == nil {
		return nil, failed("watch", key, revision, storage.ErrCompacted, errNoPreviousValue)
	}
	data, _, err := w.store.fromStorage(ctx, key, e.PrevKv.Value)
	if err != nil {
		return nil, err
	}
	return w.store.entry(key, data, revision), nil
}

// eventSize is about what a queued event keeps in memory.
func eventSize(e *clientv3.Event) int {
	const overhead = 256
	return overhead + len(e.Kv.Value) + len(e.PrevKv.GetValue())
}
