package etcd

import (
	"context"
	"errors"

	"github.com/miniapi/miniapi/storage"
)

// Status is the state of the database of etcd.
type Status struct {
	// Revision is the latest revision, Oldest the oldest one that can be read. Earlier ones are
	// compacted.
	Revision, Oldest int64
	// Size and InUse are the bytes of the database and of the data in it. Quota limits Size, 0 if
	// etcd does not report it.
	Size, InUse, Quota int64
}

// Status returns the state of the database, as the first member that answers reports it.
func (b *Backend) Status(ctx context.Context) (Status, error) {
	var errs []error
	for _, endpoint := range endpoints(b.client) {
		status, err := b.client.Status(ctx, endpoint)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		oldest, err := b.oldest(ctx, status.Header.Revision)
		return Status{
			Revision: status.Header.Revision, Oldest: oldest,
			Size: status.DbSize, InUse: status.DbSizeInUse, Quota: status.DbSizeQuota,
		}, err
	}
	return Status{}, errors.Join(errs...)
}

// Revisions returns the oldest revision that can be read, and the current one.
func (b *Backend) Revisions(ctx context.Context) (oldest, current int64, err error) {
	if current, err = b.CurrentRevision(ctx); err != nil {
		return 0, 0, err
	}
	oldest, err = b.oldest(ctx, current)
	return oldest, current, err
}

// oldest returns the oldest revision that can be read. etcd does not report it, so it is searched
// between the last result, which can only grow, and the latest revision. Without a compaction since
// the last call this is one read.
func (b *Backend) oldest(ctx context.Context, latest int64) (int64, error) {
	low, high := max(b.lastOldest.Load(), 1), latest
	for probe := low; low < high; probe = (low + high) / 2 {
		switch err := b.Retains(ctx, probe); {
		case err == nil:
			high = probe
		case errors.Is(err, storage.ErrCompacted):
			low = probe + 1
		default:
			return 0, err
		}
	}
	b.lastOldest.Store(low)
	return low, nil
}
