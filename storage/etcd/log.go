package etcd

import (
	"context"
	"errors"
	"runtime"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"github.com/miniapi/miniapi/storage"
)

var _ storage.Log = (*Backend)(nil)

var (
	errStreamEnded = errors.New("etcd has ended the watch")
	errOvertaken   = errors.New("etcd has reported progress before an event that belongs to it")
)

// State implements storage.Log.
func (b *Backend) State(ctx context.Context, visit func(storage.Change)) (revision int64, err error) {
	root := b.cfg.Prefix + "/"
	opts := b.readOptions("", clientv3.WithRange(clientv3.GetPrefixRangeEnd(root)))
	page := pageSize{min(firstPage, b.cfg.PageSize), b.cfg.PageSize}
	for from := root; ; {
		resp, err := page.fetch(ctx, b.client, from, append(opts, clientv3.WithRev(revision)))
		if err != nil {
			return 0, readError("list", "/", err)
		}
		if revision == 0 {
			revision = resp.Header.Revision
		}
		for _, kv := range resp.Kvs {
			visit(b.change(ctx, kv))
		}
		if !resp.More {
			return revision, nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// Follow implements storage.Log.
func (b *Backend) Follow(ctx context.Context, after int64, ask <-chan struct{}, report func([]storage.Change, int64)) error {
	if b.cfg.Member != nil {
		return b.followMember(ctx, after, ask, report)
	}
	stream := b.openStream(ctx, b.cfg.Prefix+"/", clientv3.WithPrefix(), clientv3.WithRev(after+1))
	defer stream.close()
	for reported := after; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-ask:
			stream.requestProgress()
		case resp, open := <-stream.incoming:
			if ctx.Err() != nil {
				return nil
			}
			if !open {
				return failed("watch", "/", after, storage.ErrUnavailable, errStreamEnded)
			}
			if err := resp.Err(); err != nil {
				return readError("watch", "/", err)
			}
			if len(resp.Events) > 0 && resp.Events[0].Kv.ModRevision <= reported { // see CheckVersion
				return failed("watch", "/", reported, storage.ErrCompacted, errOvertaken)
			}
			if len(resp.Events) > 0 || resp.IsProgressNotify() {
				reported = b.report(ctx, resp.Events, resp.Header.Revision, report)
			}
		}
	}
}

// followMember is Follow without the goroutines and copies of a client.
func (b *Backend) followMember(ctx context.Context, after int64, ask <-chan struct{}, report func([]storage.Change, int64)) error {
	stream := b.cfg.Member.NewWatchStream()
	defer stream.Close()
	from := b.cfg.Prefix + "/"
	id, err := stream.Watch(ctx, clientv3.AutoWatchID, []byte(from), []byte(clientv3.GetPrefixRangeEnd(from)), after+1)
	if err != nil {
		return failed("watch", "/", after, storage.ErrUnavailable, err)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ask:
			stream.RequestProgress(id)
		case resp := <-stream.Chan():
			if resp.CompactRevision > 0 {
				return failed("watch", "/", after, storage.ErrCompacted, nil)
			}
			b.awaitReadable(ctx, resp)
			b.report(ctx, resp.Events, resp.Revision, report)
		}
	}
}

// awaitReadable returns when the member lets everybody read what a response
// tells of, which it does a moment after it has told its watchers: whoever sees it
// in a cache must not miss it in a read of the store afterwards.
func (b *Backend) awaitReadable(ctx context.Context, resp mvcc.WatchResponse) {
	revision := resp.Revision
	if n := len(resp.Events); n > 0 {
		revision = resp.Events[n-1].Kv.ModRevision
	}
	for b.cfg.Member.Rev() < revision && ctx.Err() == nil {
		runtime.Gosched() // the writer is about to end its transaction
	}
}

// report passes on a response, and returns the revision up to which it is complete. A response
// always holds whole revisions: etcd splits them only for a watch that asks for fragments. One
// without events reports progress.
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
	change.Data, _, change.Err = b.fromStorage(ctx, change.Key, kv.Value)
	return change
}

// Retains implements storage.Log. etcd tells its watchers of a revision a moment
// before it lets anybody read it: one that is ahead is not gone.
func (b *Backend) Retains(ctx context.Context, revision int64) error {
	_, err := b.client.Get(ctx, b.cfg.Prefix, b.readOptions("", clientv3.WithRev(revision), clientv3.WithCountOnly())...)
	if err != nil && meaningOfRead(err) != storage.ErrFutureRevision {
		return meaningOfRead(err)
	}
	return nil
}
