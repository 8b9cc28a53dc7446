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

// compactionPoll is how often the end of a compaction is looked for. etcd has no
// way to wait for it that ends with the server.
const compactionPoll = 2 * time.Millisecond

// run makes room whenever that is requested, until ctx ends.
func (s *space) run(ctx context.Context) {
	defer close(s.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wakeUp:
		}
		r := s.begin()
		if r.requested {
			r.err = s.makeRoom(ctx)
		} else {
			r.err = s.compactBySize(ctx)
		}
		if r.err != nil && ctx.Err() == nil && !errors.As(r.err, new(*fullError)) {
			s.logger.WarnContext(ctx, "room in the database cannot be made", "error", r.err)
		}
		close(r.done)
	}
}

func (s *space) begin() *round {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.next
	s.next = newRound()
	return r
}

// makeRoom does what is needed for writes to be admitted, and remembers the
// result.
func (s *space) makeRoom(ctx context.Context) error {
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
		s.logger.WarnContext(ctx, "the database is full, writes are refused", "error", err)
	}
	s.mu.Lock()
	s.failed, s.failedAt = failed, revision
	s.mu.Unlock()
	return err
}

// shrinkBelowLimit compacts, defragments and disarms the alarm, none of which
// puts anything. It keeps the latest history if there is room for that.
func (s *space) shrinkBelowLimit(ctx context.Context, revision int64) error {
	s.refresh()
	for _, to := range []int64{s.keptFrom(), revision} {
		if s.hasRoom() {
			break
		}
		if to == 0 {
			continue
		}
		if err := s.shrink(ctx, to); err != nil {
			return err
		}
	}
	if !s.hasRoom() {
		return &fullError{size: s.db.Size(), quota: s.quota}
	}
	return s.disarm(ctx)
}

// refresh makes the size of the database include all writes that are not in
// flight.
func (s *space) refresh() {
	s.mu.Lock()
	included := s.pending - s.inFlight
	s.mu.Unlock()
	s.db.ForceCommit()
	s.mu.Lock()
	s.pending -= included
	s.mu.Unlock()
}

// keptFrom returns the revision at which the history begins that a compaction by
// size keeps, 0 if all of it is kept.
func (s *space) keptFrom() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.before(s.quota / keptPart)
}

// hasRoom reports that a request of the largest size can be admitted as soon as
// those in flight have come to their end.
func (s *space) hasRoom() bool { return s.db.Size()+spareBytes < s.limit }

// fullError is the error of a database whose objects need all of the quota.
type fullError struct{ size, quota int64 }

func (e *fullError) Error() string {
	return fmt.Sprintf("the objects take %.1f of %.1f MiB: delete some of them, or restart with a larger quota (--etcd-quota-backend-bytes)",
		float64(e.size)/(1<<20), float64(e.quota)/(1<<20))
}

// shrink compacts to a revision and gives free pages back.
func (s *space) shrink(ctx context.Context, revision int64) error {
	if err := s.compact(ctx, revision); err != nil {
		return err
	}
	before := s.db.Size()
	err := s.db.Defrag()
	s.logger.InfoContext(ctx, "defragmented a full database", "before", before, "after", s.db.Size(), "quota", s.quota)
	return err
}

// compactBySize drops all but the latest history.
func (s *space) compactBySize(ctx context.Context) error {
	revision := s.keptFrom()
	if revision == 0 {
		return nil
	}
	s.logger.InfoContext(ctx, "compacting the history by size", "revision", revision, "inUse", s.db.SizeInUse(), "quota", s.quota)
	return s.compact(ctx, revision)
}

// compact returns when the history before revision is gone from the database.
func (s *space) compact(ctx context.Context, revision int64) error {
	_, err := s.etcd.Compact(ctx, &etcdserverpb.CompactionRequest{Revision: revision})
	if err != nil && !errors.Is(err, mvcc.ErrCompacted) && !errors.Is(rpctypes.Error(err), rpctypes.ErrCompacted) {
		return fmt.Errorf("compact to revision %d: %w", revision, err)
	}
	ticks := time.NewTicker(compactionPoll)
	defer ticks.Stop()
	for s.finished() < revision {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks.C:
		}
	}
	s.db.ForceCommit()
	return nil
}

// finished returns the revision of the last compaction that has come to its end.
func (s *space) finished() int64 {
	tx := s.db.ReadTx()
	tx.RLock()
	defer tx.RUnlock()
	revision, _ := mvcc.UnsafeReadFinishedCompact(tx)
	return revision
}

// alarms returns those that make etcd refuse all puts.
func (s *space) alarms() []*etcdserverpb.AlarmMember {
	return slices.DeleteFunc(s.etcd.Alarms(), func(alarm *etcdserverpb.AlarmMember) bool {
		return alarm.Alarm != etcdserverpb.AlarmType_NOSPACE
	})
}

func (s *space) alarmed() bool { return len(s.alarms()) > 0 }

// disarm ends the alarms.
func (s *space) disarm(ctx context.Context) error {
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
