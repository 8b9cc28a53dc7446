package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// compactionPoll is the interval of polling for the end of a compaction. etcd offers no wait for
// it that ends with the server.
const compactionPoll = 2 * time.Millisecond

// run reclaims space whenever that is requested, until ctx ends.
func (s *spaceQuota) run(ctx context.Context) {
	defer close(s.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wakeUp:
		}
		r := s.begin()
		if r.requested {
			r.err = s.reclaim(ctx)
		} else {
			r.err = s.compactBySize(ctx)
		}
		if r.err != nil && ctx.Err() == nil && !errors.As(r.err, new(*fullError)) {
			s.logger.WarnContext(ctx, "cannot reclaim space in the database", "error", r.err)
		}
		close(r.done)
	}
}

func (s *spaceQuota) begin() *round {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.next
	s.next = newRound()
	return r
}

// reclaim frees enough space for writes to be admitted, and records the result.
func (s *spaceQuota) reclaim(ctx context.Context) error {
	s.mu.Lock()
	failed, failedAt := s.failed, s.failedAt
	s.mu.Unlock()
	revision := s.etcd.KV().Rev()
	if failed != nil && failedAt == revision {
		return failed
	}
	err := s.shrinkBelowLimit(ctx, revision)
	if failed = nil; errors.As(err, new(*fullError)) {
		failed = err
		s.logger.WarnContext(ctx, "the database is full, writes are rejected", "error", err)
	}
	s.mu.Lock()
	s.failed, s.failedAt = failed, revision
	s.mu.Unlock()
	return err
}

// shrinkBelowLimit compacts, defragments and disarms the alarm; none of these puts a key. It keeps
// the latest history if there is space for it.
func (s *spaceQuota) shrinkBelowLimit(ctx context.Context, revision int64) error {
	s.refresh()
	if !s.hasRoom() {
		if err := s.makeRoom(ctx, revision); err != nil {
			return err
		}
	}
	return s.disarm(ctx)
}

// makeRoom compacts and defragments until there is room, or only the present objects are left.
func (s *spaceQuota) makeRoom(ctx context.Context, revision int64) error {
	s.setShrinking(true)
	defer s.setShrinking(false)
	for _, to := range []int64{s.keptFrom(), revision} {
		if to == 0 {
			continue
		}
		if err := s.shrink(ctx, to); err != nil {
			return err
		}
		if s.hasRoom() {
			return nil
		}
	}
	return &fullError{size: s.db.Size(), quota: s.quota}
}

func (s *spaceQuota) setShrinking(shrinking bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shrinking = shrinking
}

// refresh makes the size of the database include all writes that are not in flight.
func (s *spaceQuota) refresh() {
	s.mu.Lock()
	included := s.pending - s.inFlight
	s.mu.Unlock()
	s.db.ForceCommit()
	s.mu.Lock()
	s.pending -= included
	s.mu.Unlock()
}

// keptFrom returns the first revision that a compaction by size keeps, or 0 if it keeps all.
func (s *spaceQuota) keptFrom() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.before(s.quota / keptPart)
}

// hasRoom reports whether a request of the maximum size can be admitted as soon as the requests in
// flight have ended.
func (s *spaceQuota) hasRoom() bool { return s.db.Size()+spareBytes < s.limit }

// fullError is the error of a database whose objects need the whole quota.
type fullError struct{ size, quota int64 }

func (e *fullError) Error() string {
	return fmt.Sprintf("the objects take %.1f of %.1f MiB: delete some of them, or restart with a larger quota (--etcd-quota-backend-bytes)",
		float64(e.size)/(1<<20), float64(e.quota)/(1<<20))
}

// shrink compacts to a revision and returns free pages to the file system.
func (s *spaceQuota) shrink(ctx context.Context, revision int64) error {
	if err := s.compact(ctx, revision); err != nil {
		return err
	}
	before := s.db.Size()
	err := s.db.Defrag()
	s.logger.InfoContext(ctx, "defragmented a full database", "before", before, "after", s.db.Size(), "quota", s.quota)
	return err
}

// compactBySize removes all but the latest history.
func (s *spaceQuota) compactBySize(ctx context.Context) error {
	revision := s.keptFrom()
	if revision == 0 {
		return nil
	}
	s.logger.InfoContext(ctx, "compacting the history by size", "revision", revision, "inUse", s.db.SizeInUse(), "quota", s.quota)
	return s.compact(ctx, revision)
}

// compact returns when the history before revision is removed from the database.
func (s *spaceQuota) compact(ctx context.Context, revision int64) error {
	if s.beforeCompaction != nil {
		s.beforeCompaction(ctx)
	}
	_, err := s.etcd.Compact(ctx, &etcdserverpb.CompactionRequest{Revision: revision})
	if err != nil && !errors.Is(err, mvcc.ErrCompacted) && !errors.Is(rpctypes.Error(err), rpctypes.ErrCompacted) {
		return fmt.Errorf("compact to revision %d: %w", revision, err)
	}
	ticks := time.NewTicker(compactionPoll)
	defer ticks.Stop()
	for s.finishedCompaction() < revision {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks.C:
		}
	}
	s.db.ForceCommit()
	return nil
}

// finishedCompaction returns the revision of the last compaction that has finished.
func (s *spaceQuota) finishedCompaction() int64 {
	tx := s.db.ReadTx()
	tx.RLock()
	defer tx.RUnlock()
	revision, _ := mvcc.UnsafeReadFinishedCompact(tx)
	return revision
}

// alarms returns the alarms that make etcd reject all puts.
func (s *spaceQuota) alarms() []*etcdserverpb.AlarmMember {
	return slices.DeleteFunc(s.etcd.Alarms(), func(alarm *etcdserverpb.AlarmMember) bool {
		return alarm.Alarm != etcdserverpb.AlarmType_NOSPACE
	})
}

func (s *spaceQuota) alarmed() bool { return len(s.alarms()) > 0 }

// disarm deactivates the alarms.
func (s *spaceQuota) disarm(ctx context.Context) error {
	for _, alarm := range s.alarms() {
		_, err := s.etcd.Alarm(ctx, &etcdserverpb.AlarmRequest{
			Action: etcdserverpb.AlarmRequest_DEACTIVATE, Alarm: alarm.Alarm, MemberID: alarm.MemberID,
		})
		if err != nil {
			return fmt.Errorf("disarm the alarm: %w", err)
		}
	}
	return nil
}
