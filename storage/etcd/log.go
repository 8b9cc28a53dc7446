package etcd

import (
	"cmp"
	"context"
	"errors"
	"runtime"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/transform"
)

var _ storage.Log = (*Backend)(nil)

var (
	errStreamEnded = errors.New("etcd has ended the watch")
	errOvertaken   = errors.New("etcd has reported progress before an event of that revision")
	errReadable    = errors.New("encrypted values may have become readable")
)

// State implements storage.Log.
func (b *Backend) State(ctx context.Context, visit func(storage.Change)) (revision int64, err error) {
	revision, err = b.eachValue(ctx, 0, func(kv *mvccpb.KeyValue) { visit(b.change(ctx, kv)) })
	if err != nil {
		return 0, readError("list", "/", err)
	}
	return revision, nil
}

// Follow implements storage.Log.
func (b *Backend) Follow(ctx context.Context, after int64, requests <-chan struct{}, report func([]storage.Change, int64)) error {
	if b.cfg.Member != nil {
		return b.followMember(ctx, after, requests, report)
	}
	stream := b.openStream(ctx, watchPrefix(b.root(), after+1))
	defer stream.close()
	for reported := after; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-requests:
			stream.requestProgress()
		case <-b.becameReadable():
			return b.readAgain(reported)
		case resp, open := <-stream.incoming:
			if ctx.Err() != nil {
				return nil
			}
			if !open {
				return failed("watch", "/", after, storage.ErrUnavailable, cmp.Or(stream.err, errStreamEnded))
			}
			if err := resp.Err(); err != nil {
				return readError("watch", "/", err)
			}
			if len(resp.Events) > 0 && resp.Events[0].Kv.ModRevision <= reported { // see CheckVersion
				return failed("watch", "/", reported, storage.ErrCompacted, errOvertaken)
			}
			if (len(resp.Events) > 0 || resp.IsProgressNotify()) && b.awaitAvailable(ctx) {
				// A stream that was opened again may have reached a member that lags behind.
				reported = max(reported, b.report(ctx, resp.Events, resp.Header.Revision, report))
			}
		}
	}
}

// followMember is Follow without the goroutines and copies of a client. It continues after a
// restart of the member.
func (b *Backend) followMember(ctx context.Context, after int64, requests <-chan struct{}, report func([]storage.Change, int64)) error {
	for ctx.Err() == nil {
		kv, gone, err := b.cfg.Member.Store(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return failed("watch", "/", after, storage.ErrUnavailable, err)
		}
		f := follower{b, kv, gone, report}
		if after, err = f.follow(ctx, after, requests); err != nil {
			return err
		}
	}
	return nil
}

// follower follows the log of one store of a member.
type follower struct {
	*Backend
	kv     mvcc.WatchableKV
	gone   <-chan struct{}
	report func([]storage.Change, int64)
}

// follow reports changes until ctx ends or the store is gone, and returns the revision up to which
// it has reported.
func (f *follower) follow(ctx context.Context, after int64, requests <-chan struct{}) (int64, error) {
	stream, id, err := f.watch(ctx, after+1)
	if err != nil {
		return after, failed("watch", "/", after, storage.ErrUnavailable, err)
	}
	if stream == nil {
		return after, nil
	}
	defer f.call(context.WithoutCancel(ctx), stream.Close)
	for {
		select {
		case <-f.gone:
			return after, nil
		case <-ctx.Done():
			return after, nil
		case <-requests:
			f.call(ctx, func() { stream.RequestProgress(id) })
		case <-f.becameReadable():
			return after, f.readAgain(after)
		case resp := <-stream.Chan():
			if resp.CompactRevision > 0 {
				return after, failed("watch", "/", after, storage.ErrCompacted, nil)
			}
			if f.awaitAvailable(ctx) && f.readable(ctx, resp) {
				after = max(after, f.Backend.report(ctx, resp.Events, resp.Revision, f.report))
			}
		}
	}
}

// watch opens a stream with one watch of all keys. It returns no stream if the store is gone or ctx
// ends before.
func (f *follower) watch(ctx context.Context, since int64) (mvcc.WatchStream, mvcc.WatchID, error) {
	type result struct {
		stream mvcc.WatchStream
		id     mvcc.WatchID
		err    error
	}
	opened := make(chan result, 1)
	called := f.call(ctx, func() {
		stream := f.kv.NewWatchStream()
		from := f.root()
		id, err := stream.Watch(ctx, clientv3.AutoWatchID, []byte(from), []byte(clientv3.GetPrefixRangeEnd(from)), since)
		if err != nil || ctx.Err() != nil {
			stream.Close()
			stream = nil
		}
		opened <- result{stream, id, err}
	})
	if !called {
		return nil, 0, nil
	}
	r := <-opened
	return r.stream, r.id, r.err
}

// readable waits until reads of the store return the events of a response, which is a moment after
// the store has sent them to watchers. Otherwise a client could see an event in a cache and miss
// it in a later read of the store. It returns false if the store is gone or ctx ends before.
func (f *follower) readable(ctx context.Context, resp mvcc.WatchResponse) bool {
	revision := resp.Revision
	if n := len(resp.Events); n > 0 {
		revision = resp.Events[n-1].Kv.ModRevision
	}
	for {
		var current int64
		if !f.call(ctx, func() { current = f.kv.Rev() }) {
			return false
		}
		if current >= revision {
			return true
		}
		runtime.Gosched() // the writer is about to end its transaction
	}
}

// call runs a function that uses the store. It returns false if the store is gone or ctx ends
// before: a store that has failed may hold its locks forever, and the function with them.
func (f *follower) call(ctx context.Context, function func()) bool {
	returned := make(chan struct{})
	go func() { // ends with function
		defer close(returned)
		function()
	}()
	select {
	case <-returned:
		return true
	case <-f.gone:
		return false
	case <-ctx.Done():
		return false
	}
}

// report reports a response and returns the revision up to which it is complete. A response always
// contains whole revisions, because etcd only splits a revision for a watch that requests
// fragments. A response without events is a progress notification.
func (b *Backend) report(ctx context.Context, events []*mvccpb.Event, progress int64, report func([]storage.Change, int64)) int64 {
	b.learnRevision(progress)
	if len(events) == 0 {
		report(nil, progress)
		return progress
	}
	changes := make([]storage.Change, len(events))
	for i, e := range events {
		if e.Type == mvccpb.Event_DELETE {
			changes[i] = storage.Change{Key: b.key(e.Kv.Key), Revision: e.Kv.ModRevision, Deleted: true}
		} else {
			changes[i] = b.change(ctx, e.Kv)
		}
	}
	upTo := changes[len(changes)-1].Revision
	report(changes, upTo)
	return upTo
}

func (b *Backend) change(ctx context.Context, kv *mvccpb.KeyValue) storage.Change {
	change := storage.Change{Key: b.key(kv.Key), Revision: kv.ModRevision}
	var changed <-chan struct{}
	if transformer, ok := b.cfg.Transformer.(transform.Observable); ok {
		changed = transformer.Changed()
	}
	change.Data, _, change.Err = b.fromStorage(ctx, change.Key, kv.Value)
	if change.Err != nil && changed != nil {
		b.unreadable.CompareAndSwap(nil, &changed)
	}
	return change
}

// becameReadable returns a channel that is closed when values that the log could not read may have
// become readable. It returns nil if the log has read all values.
func (b *Backend) becameReadable() <-chan struct{} {
	if changed := b.unreadable.Load(); changed != nil {
		return *changed
	}
	return nil
}

// readAgain returns the error of Follow that makes the caller request the state again.
func (b *Backend) readAgain(revision int64) error {
	b.unreadable.Store(nil)
	return failed("watch", "/", revision, storage.ErrCompacted, errReadable)
}

// Retains implements storage.Log. A revision ahead of the store was not compacted: etcd sends a
// revision to its watchers a moment before reads return it.
func (b *Backend) Retains(ctx context.Context, revision int64) error {
	_, err := b.kv.Get(ctx, b.root(), b.consistent(clientv3.WithRev(revision), clientv3.WithCountOnly())...)
	if err != nil && meaningOfRead(err) != storage.ErrFutureRevision {
		return meaningOfRead(err)
	}
	return nil
}
