package etcd

import (
	"bytes"
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"github.com/miniapi/miniapi/storage"
)

const (
	// restoreOps and restoreBytes limit a transaction of Restore with many keys. They stay below
	// etcd's limits of 128 operations and 1.5 MiB.
	restoreOps   = 120
	restoreBytes = 1 << 20
	// restoreWriters is the number of concurrent transactions of Restore.
	restoreWriters = 16
	// restorePasses is the maximum number of comparisons with the current state. Without other
	// writers two or three are sufficient.
	restorePasses = 20
)

var errBusy = errors.New("other clients write all the time: stop them, or try again")

// RestoreOptions are the options of Restore.
type RestoreOptions struct {
	// Replaced reports whether two encoded values are different objects of the same name. Watchers
	// then see the deletion of the present object before the other one is written. Nil: a value is
	// never replaced.
	Replaced func(present, restored []byte) bool
	// Unwatched states that no client watches yet. Then many keys are written at one revision,
	// which is faster. A client that resumes a watch at this revision would miss events.
	Unwatched bool
}

// Restore brings all keys to the state of a snapshot, and returns a revision at which they had it.
// It writes only the differences, as new revisions, so watchers see them as events. The writes of
// other clients before the returned revision are lost, later ones remain. After an error Restore
// can be repeated.
func (b *Backend) Restore(ctx context.Context, snapshot *Snapshot, opts RestoreOptions) (revision int64, err error) {
	for range restorePasses {
		current, err := b.Snapshot(ctx, 0)
		if err != nil {
			return 0, err
		}
		differences := current.differences(snapshot, opts)
		if len(differences) == 0 {
			return current.revision, nil
		}
		if err := b.writeAll(ctx, differences, opts); err != nil {
			return 0, err
		}
	}
	return 0, failed("restore", "/", snapshot.revision, storage.ErrUnavailable, errBusy)
}

// difference is a key to delete, if deleted is set, or a value to write. The key must still have
// its present revision, 0 if it is absent.
type difference struct {
	value
	present int64
	deleted bool
}

// differences returns the writes that lead from s to a target, in the order of keys. Both are
// ordered by key.
func (s *Snapshot) differences(target *Snapshot, opts RestoreOptions) []difference {
	var writes []difference
	have, want := s.values, target.values
	for len(have) > 0 || len(want) > 0 {
		switch {
		case len(want) == 0 || len(have) > 0 && have[0].key < want[0].key:
			writes = append(writes, difference{have[0], have[0].revision, true})
			have = have[1:]
		case len(have) == 0 || want[0].key < have[0].key:
			writes = append(writes, difference{want[0], 0, false})
			want = want[1:]
		default:
			if have[0].raw != want[0].raw || !bytes.Equal(have[0].data, want[0].data) {
				replaced := opts.Replaced != nil && opts.Replaced(have[0].data, want[0].data)
				writes = append(writes, difference{want[0], have[0].revision, replaced})
			}
			have, want = have[1:], want[1:]
		}
	}
	return writes
}

// writeAll makes writes, in transactions of one key, or with opts.Unwatched in as few transactions
// as the limits of etcd allow.
func (b *Backend) writeAll(ctx context.Context, writes []difference, opts RestoreOptions) error {
	transactions, ctx := errgroup.WithContext(ctx)
	transactions.SetLimit(restoreWriters)
	for len(writes) > 0 && ctx.Err() == nil {
		n, size := 0, 0
		for n < len(writes) && n < restoreOps && (n == 0 || opts.Unwatched && size+len(writes[n].data) <= restoreBytes) {
			size += len(writes[n].data)
			n++
		}
		next := writes[:n]
		transactions.Go(func() error { return b.writeTogether(ctx, next) })
		writes = writes[n:]
	}
	return transactions.Wait()
}

// writeTogether makes writes in one transaction. If one of the keys has changed it writes nothing.
func (b *Backend) writeTogether(ctx context.Context, writes []difference) error {
	ops, guard := make([]clientv3.Op, len(writes)), make([]clientv3.Cmp, len(writes))
	for i, w := range writes {
		path := b.cfg.Prefix + w.key
		guard[i] = modRevisionIs(path, w.present)
		if w.deleted {
			ops[i] = clientv3.OpDelete(path)
			continue
		}
		var opts []clientv3.OpOption
		if w.ttl > 0 {
			lease, err := b.leases.acquire(ctx, w.ttl)
			if err != nil {
				return writeError("restore", w.key, err)
			}
			opts = append(opts, clientv3.WithLease(lease))
		}
		stored, err := w.stored(ctx, b)
		if err != nil {
			return rejected("restore", w.key, 0, err)
		}
		put := clientv3.OpPut(path, "", opts...)
		put.WithValueBytes(stored)
		ops[i] = put
	}
	resp, err := b.kv.Do(ctx, clientv3.OpTxn(guard, ops, nil))
	switch {
	case err == nil:
		b.learnRevision(resp.Txn().Header.Revision)
		return nil
	case isNoSpace(err): // Restore can be repeated
		return noSpaceError("restore", writes[0].key, err)
	default:
		return writeError("restore", writes[0].key, err)
	}
}
