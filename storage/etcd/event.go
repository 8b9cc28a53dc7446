package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

var errNoPreviousValue = errors.New("etcd has no value from before the event")

// translate makes an event of etcd one of the watch. With a predicate it
// compares what was with what is: the zero event stands for nothing to report.
func (w *watcher) translate(ctx context.Context, e *clientv3.Event) (event storage.Event, size int, err error) {
	var before, after *storage.Entry
	if !e.IsCreate() && (e.Type == clientv3.EventTypeDelete || !w.opts.Predicate.Empty()) {
		if before, err = w.previous(ctx, e); err != nil {
			return storage.Event{}, 0, eventError(e, err)
		}
	}
	if e.Type != clientv3.EventTypeDelete {
		if after, err = w.store.entryOf(ctx, e.Kv); err != nil {
			return storage.Event{}, 0, err
		}
	}
	event, err = w.compare(ctx, e, before, after)
	event.Revision = e.Kv.ModRevision
	return event, eventSize(e), eventError(e, err)
}

// eventError returns the error of an event whose objects cannot be decoded.
func eventError(e *clientv3.Event, err error) error {
	if e.Type == clientv3.EventTypeDelete && errors.Is(err, storage.ErrCorrupt) {
		return &storage.CorruptDeletedError{Err: err}
	}
	return err
}

// compare decides what a change means to a watch that selects. Whether there
// was a value before is known without the entry, which the empty predicate
// does not need.
func (w *watcher) compare(ctx context.Context, e *clientv3.Event, before, after *storage.Entry) (storage.Event, error) {
	selected := func(entry *storage.Entry) (bool, error) {
		if entry == nil {
			return false, nil
		}
		return w.opts.Predicate.MatchesEntry(ctx, entry)
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
	key, before := w.store.key(e.Kv.Key), e.PrevKv
	if before == nil {
		var err error
		if before, err = w.readBefore(ctx, e); err != nil {
			return nil, err
		}
	}
	data, _, err := w.store.fromStorage(ctx, key, before.Value)
	if err != nil {
		return nil, err
	}
	return w.store.entry(key, data, e.Kv.ModRevision), nil
}

// readBefore asks again for a previous value that did not come with its event:
// etcd leaves it out where it is compacted, but does not say that this is why.
func (w *watcher) readBefore(ctx context.Context, e *clientv3.Event) (*mvccpb.KeyValue, error) {
	key, revision := w.store.key(e.Kv.Key), e.Kv.ModRevision
	resp, err := w.store.client.Get(ctx, string(e.Kv.Key), w.store.readOptions("", clientv3.WithRev(revision-1))...)
	if err != nil {
		return nil, failed("watch", key, revision, meaningOfRead(err), err)
	}
	if len(resp.Kvs) == 0 {
		return nil, failed("watch", key, revision, storage.ErrCompacted, errNoPreviousValue)
	}
	return resp.Kvs[0], nil
}

// eventSize is about what a queued event keeps in memory.
func eventSize(e *clientv3.Event) int {
	const overhead = 256
	return overhead + len(e.Kv.Value) + len(e.PrevKv.GetValue())
}
