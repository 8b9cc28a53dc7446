package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

var errNoPreviousValue = errors.New("etcd has no value before the event")

// translate returns the watch event of an event of etcd, and about how many bytes it occupies while
// it is queued. The event has no type if the predicate selects neither state.
func (w *watcher) translate(ctx context.Context, e *clientv3.Event) (event storage.Event, size int, err error) {
	before, after, err := w.states(ctx, e)
	if err != nil {
		return storage.Event{}, 0, err
	}
	event = storage.Event{Entry: after, Revision: e.Kv.ModRevision}
	if event.Type, err = w.opts.Predicate.EventType(ctx, before, after); err != nil {
		return storage.Event{}, 0, err
	}
	if event.Type == watch.Deleted {
		event.Entry = before
	}
	return event, eventSize(e), nil
}

// states returns the entries before and after an event, nil where the key is absent. The first one
// is stamped with the revision of the event.
func (w *watcher) states(ctx context.Context, e *clientv3.Event) (before, after *storage.Entry, err error) {
	deleted := e.Type == clientv3.EventTypeDelete
	if deleted || !e.IsCreate() && !w.opts.Predicate.Empty() {
		before, err = w.previous(ctx, e)
		if deleted && errors.Is(err, storage.ErrCorrupt) {
			err = &storage.CorruptDeletedError{Err: err}
		}
		if err != nil || deleted {
			return before, nil, err
		}
	}
	after, err = w.store.entryOf(ctx, e.Kv)
	if before == nil && !e.IsCreate() {
		before = after // an empty predicate selects every state, so the previous one is not read
	}
	return before, after, err
}

// previous returns the entry before an event, stamped with the revision of the event. If etcd has
// compacted the value, the error wraps ErrCompacted.
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

// readBefore reads the previous value of an event that lacks it. etcd omits a compacted value
// without saying so.
func (w *watcher) readBefore(ctx context.Context, e *clientv3.Event) (*mvccpb.KeyValue, error) {
	key, revision := w.store.key(e.Kv.Key), e.Kv.ModRevision
	resp, err := w.store.kv.Get(ctx, string(e.Kv.Key), w.store.consistent(clientv3.WithRev(revision-1))...)
	if err != nil {
		return nil, failed("watch", key, revision, meaningOfRead(err), err)
	}
	if len(resp.Kvs) == 0 {
		return nil, failed("watch", key, revision, storage.ErrCompacted, errNoPreviousValue)
	}
	return resp.Kvs[0], nil
}

// eventSize returns the approximate size of a queued event in memory.
func eventSize(e *clientv3.Event) int {
	const overhead = 256
	return overhead + len(e.Kv.Value) + len(e.PrevKv.GetValue())
}
