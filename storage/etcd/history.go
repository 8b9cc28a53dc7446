package etcd

import (
	"cmp"
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
)

// errCompactedAgain interrupts a history whose oldest revision was compacted meanwhile.
var errCompactedAgain = errors.New("compacted while it was read")

// History implements storage.Interface. It replays the changes of the key: a version names the one
// before it (its ModRevision minus one) only until the key was created, and earlier generations of
// the key are found by no other request.
func (s *resourceStore) History(ctx context.Context, key string) (*storage.History, error) {
	t, err := s.target("history", key)
	if err != nil {
		return nil, err
	}
	oldest := int64(1)
	for {
		history, compacted, err := s.historySince(ctx, t, oldest)
		if !errors.Is(err, errCompactedAgain) {
			return history, err
		}
		oldest = compacted
	}
}

// historySince returns the history from a revision on. If that is compacted, the error is
// errCompactedAgain and compacted the oldest revision that is left.
func (s *resourceStore) historySince(ctx context.Context, t target, oldest int64) (history *storage.History, compacted int64, err error) {
	history = &storage.History{Oldest: oldest}
	if oldest > 1 { // the state that a compaction has left
		resp, err := s.kv.Get(ctx, t.path, s.consistent(clientv3.WithRev(oldest))...)
		if err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
			return nil, 0, readError("history", t.key, err)
		}
		if err == nil && len(resp.Kvs) > 0 { // otherwise the stream reports the compaction
			if err := s.addVersion(ctx, history, resp.Kvs[0], false); err != nil {
				return nil, 0, err
			}
		}
	}
	until, err := s.CurrentRevision(ctx)
	if err != nil {
		return nil, 0, err
	}
	if until <= oldest {
		return history, 0, nil
	}
	compacted, err = s.replay(ctx, t, history, until)
	return history, compacted, err
}

// replay adds the changes of a key after history.Oldest up to a revision. Revision 1, which has no
// keys, is included, because a watch from revision 2 does not report a compaction at 2.
func (s *resourceStore) replay(ctx context.Context, t target, history *storage.History, until int64) (compacted int64, err error) {
	since := history.Oldest + 1
	if history.Oldest == 1 {
		since = 1
	}
	stream := s.openStream(ctx, watchKey(t.path, since))
	defer stream.close()
	ticks := time.NewTicker(resolveProgress)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return 0, readError("history", t.key, ctx.Err())
		case <-ticks.C:
			stream.requestProgress()
		case resp, open := <-stream.incoming:
			switch {
			case !open:
				return 0, failed("history", t.key, history.Oldest, storage.ErrUnavailable, cmp.Or(stream.err, errStreamEnded))
			case resp.CompactRevision != 0:
				return resp.CompactRevision, errCompactedAgain
			case resp.Err() != nil:
				return 0, readError("history", t.key, resp.Err())
			}
			for _, e := range resp.Events {
				if err := s.addVersion(ctx, history, e.Kv, e.Type == clientv3.EventTypeDelete); err != nil {
					return 0, err
				}
			}
			if resp.IsProgressNotify() && resp.Header.Revision >= until {
				return 0, nil
			}
		}
	}
}

// addVersion appends a version.
func (s *resourceStore) addVersion(ctx context.Context, history *storage.History, kv *mvccpb.KeyValue, deleted bool) error {
	version := storage.Version{Revision: kv.ModRevision}
	if !deleted {
		entry, err := s.entryOf(ctx, kv)
		if errors.Is(err, storage.ErrCorrupt) { // the other versions may be readable
			entry, err = s.decoder.Corrupt(s.key(kv.Key), kv.ModRevision, err), nil
		}
		if err != nil {
			return err
		}
		version.CreateRevision, version.Number, version.Entry = kv.CreateRevision, kv.Version, entry
	}
	history.Versions = append(history.Versions, version)
	return nil
}
