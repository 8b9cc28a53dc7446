package etcd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
)

// Snapshot is the state of all keys of a Backend at one revision. It is immutable, and can be
// restored in another etcd with the same prefix. Its values are not encrypted, except the ones that
// the transformer could not read.
type Snapshot struct {
	revision int64
	values   []value // ordered by key
}

// value is a key with its value.
type value struct {
	key  string // without the prefix
	data []byte // as the codec encoded it
	// revision of the last write, in the etcd from which the snapshot was taken.
	revision int64
	// raw is set if the transformer could not read the value. data then has the stored bytes.
	raw bool
	// ttl is the remaining time to live in seconds, 0 for keys that do not expire.
	ttl int64
}

// Revision returns the revision of the snapshot in the etcd from which it was taken.
func (s *Snapshot) Revision() int64 { return s.revision }

// Len returns the number of keys.
func (s *Snapshot) Len() int { return len(s.values) }

// Bytes returns the size of the keys and values.
func (s *Snapshot) Bytes() int64 {
	size := 0
	for i := range s.values {
		size += len(s.values[i].key) + len(s.values[i].data)
	}
	return int64(size)
}

// Snapshot returns the state at a revision, or the latest state for revision 0. It returns
// ErrCompacted if the history of the revision is gone. Keys whose lease has expired since then are
// not included.
func (b *Backend) Snapshot(ctx context.Context, revision int64) (*Snapshot, error) {
	snapshot := &Snapshot{}
	leases := map[int64]int64{}
	var valueErr error
	revision, err := b.eachValue(ctx, revision, func(kv *mvccpb.KeyValue) {
		v := value{key: b.key(kv.Key), revision: kv.ModRevision}
		if strings.HasPrefix(v.key, internalKeys) || valueErr != nil {
			return
		}
		if kv.Lease != 0 {
			if v.ttl, valueErr = b.timeToLive(ctx, kv.Lease, leases); v.ttl <= 0 {
				return
			}
		}
		if valueErr = v.read(ctx, b, kv.Value); valueErr == nil {
			snapshot.values = append(snapshot.values, v)
		}
	})
	if err != nil {
		return nil, readError("snapshot", "/", err)
	}
	if valueErr != nil {
		return nil, readError("snapshot", "/", valueErr)
	}
	snapshot.revision = revision
	return snapshot, nil
}

// read sets the data of v. The error is not nil if ctx has ended.
func (v *value) read(ctx context.Context, b *Backend, stored []byte) error {
	var err error
	v.data, _, err = b.fromStorage(ctx, v.key, stored)
	if errors.Is(err, storage.ErrCorrupt) {
		v.data, v.raw, err = stored, true, nil
	}
	return err
}

// stored returns the bytes of v to store.
func (v *value) stored(ctx context.Context, b *Backend) ([]byte, error) {
	if v.raw {
		return v.data, nil
	}
	return b.cfg.Transformer.ToStorage(ctx, v.data, b.cfg.Prefix+v.key)
}

// timeToLive returns the remaining seconds of a lease, which is not positive if it has expired.
// known holds the leases that were requested before.
func (b *Backend) timeToLive(ctx context.Context, lease int64, known map[int64]int64) (int64, error) {
	if ttl, ok := known[lease]; ok {
		return ttl, nil
	}
	resp, err := b.client.TimeToLive(ctx, clientv3.LeaseID(lease))
	if err != nil {
		return 0, err
	}
	known[lease] = resp.TTL
	return resp.TTL, nil
}

// eachValue calls visit with all keys below the prefix at a revision, in the order of keys, and
// returns the revision. Revision 0 is the latest one.
func (b *Backend) eachValue(ctx context.Context, revision int64, visit func(*mvccpb.KeyValue)) (int64, error) {
	root := b.root()
	opts := b.consistent(clientv3.WithRange(clientv3.GetPrefixRangeEnd(root)))
	page := pageSize{min(firstPage, b.cfg.PageSize), b.cfg.PageSize}
	for from := root; ; {
		resp, err := page.fetch(ctx, b.kv, from, append(opts, clientv3.WithRev(revision)))
		if err != nil {
			return 0, err
		}
		if revision == 0 {
			revision = resp.Header.Revision
		}
		for _, kv := range resp.Kvs {
			visit(kv)
		}
		if !resp.More {
			return revision, nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// Replace returns a copy of s in which the keys with a prefix are taken from another snapshot.
func (s *Snapshot) Replace(prefix string, other *Snapshot) *Snapshot {
	replaced := &Snapshot{revision: s.revision}
	for _, v := range s.values {
		if !strings.HasPrefix(v.key, prefix) {
			replaced.values = append(replaced.values, v)
		}
	}
	for _, v := range other.values {
		if strings.HasPrefix(v.key, prefix) {
			replaced.values = append(replaced.values, v)
		}
	}
	slices.SortFunc(replaced.values, func(a, b value) int { return strings.Compare(a.key, b.key) })
	return replaced
}
