package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/server/v3/etcdserver"
	serverstorage "go.etcd.io/etcd/server/v3/storage"
	"go.etcd.io/etcd/server/v3/storage/backend"
)

const (
	// spareBytes must be free below the limit after a reclaim: one request of the maximum size.
	spareBytes = MaxRequestBytes + 64<<10
	// The limit is lower than the quota by a quarter of the quota, but by at least minReserved and
	// at most maxReserved. The reserve is for bytes that the database writes in addition to the
	// values: it rewrites large values when their neighbours change.
	minReserved = 8 << 20
	maxReserved = 32 << 20
	// A compaction by size keeps, if possible, quota/keptPart bytes of history. The next one
	// follows after as many bytes were written.
	keptPart = 8
)

// spaceQuota keeps the database below its quota. etcd counts the whole file, including history and
// free pages. Once the file has reached the quota, etcd rejects all puts until the file is
// defragmented and an alarm is disarmed, and returns the same error for writes that it has already
// applied. Therefore each write is admitted before etcd receives it: it is either rejected or
// stays below the quota.
//
// The history is compacted by size while writes continue. A write that is not admitted starts a
// round, which does everything that is needed for the write to succeed.
type spaceQuota struct {
	etcd   *etcdserver.EtcdServer
	db     backend.Backend
	quota  int64
	limit  int64 // of the file's size, up to which writes are admitted
	logger *slog.Logger
	// beforeCompaction may be nil.
	beforeCompaction func(ctx context.Context)

	wakeUp chan struct{} // capacity 1
	ended  chan struct{} // closed by run at its end

	mu      sync.Mutex // guards the fields below
	history history
	// compacted is history.written at the last compaction by size.
	compacted int64
	// inFlight is the size of the writes that were sent to etcd and not answered. pending is the
	// size of the writes that db.Size may not include yet.
	inFlight, pending int64
	next              *round // starts after the current one
	// shrinking is set while a round shrinks the database. Writes then wait for the round:
	// otherwise they could use the space up before the round has found it.
	shrinking bool
	// failed is the error of the last round, nil if it succeeded. failedAt is the revision of the
	// store at that time: as long as the revision is the same, another round would fail too.
	failed   error
	failedAt int64
}

// round is one attempt to reclaim space.
type round struct {
	requested bool          // by a write that was not admitted
	done      chan struct{} // closed at the end; err is set before
	err       error
}

func newRound() *round { return &round{done: make(chan struct{})} }

func newSpaceQuota(etcd *etcdserver.EtcdServer, cfg Config) *spaceQuota {
	quota := etcd.Cfg.QuotaBackendBytes
	if quota == 0 {
		quota = serverstorage.DefaultQuotaBytes
	}
	return &spaceQuota{
		etcd: etcd, db: etcd.Backend(), quota: quota, limit: limitOf(quota),
		logger: cfg.Logger, beforeCompaction: cfg.BeforeCompaction,
		wakeUp: make(chan struct{}, 1), ended: make(chan struct{}), next: newRound(),
		history: history{step: quota / keptPart / 8},
	}
}

func limitOf(quota int64) int64 {
	return max(quota/2, quota-min(max(quota/4, minReserved), maxReserved))
}

// admit returns when there is space for a write of the given size; release must then be called. An
// error wraps etcd's ErrNoSpace and describes the remedy, or is a notSentError. A write whose
// context has ended does not wait, even if the wait would be short.
func (s *spaceQuota) admit(ctx context.Context, size int64) error {
	for !s.reserve(size) {
		if err := ctx.Err(); err != nil {
			return &notSentError{err}
		}
		r := s.request()
		select {
		case <-r.done:
		case <-s.ended:
			return &notSentError{errStopping}
		case <-ctx.Done():
			return &notSentError{ctx.Err()}
		}
		if r.err != nil {
			if s.take(size) { // the size is less than the maximum
				return nil
			}
			return fmt.Errorf("%w: %w", rpctypes.ErrNoSpace, r.err)
		}
	}
	return nil
}

// reserve is take, except that it returns false while the database is shrunk.
func (s *spaceQuota) reserve(size int64) bool {
	s.mu.Lock()
	shrinking := s.shrinking
	s.mu.Unlock()
	return !shrinking && s.take(size)
}

// take admits a write if there is space for it.
func (s *spaceQuota) take(size int64) bool {
	alarmed := s.alarmed()
	s.mu.Lock()
	defer s.mu.Unlock()
	if alarmed || s.db.Size()+s.pending+size >= s.limit {
		return false
	}
	s.inFlight += size
	s.pending += size
	return true
}

// release ends an admitted write, which created the given revision, or 0. It starts a compaction
// by size if one is due.
func (s *spaceQuota) release(size, revision int64) {
	s.mu.Lock()
	s.inFlight -= size
	if revision > 0 {
		s.history.add(revision, size)
	}
	compact := s.history.written-s.compacted >= s.quota/keptPart && s.db.SizeInUse() >= s.quota/2
	if compact {
		s.compacted = s.history.written
	}
	s.mu.Unlock()
	if compact {
		s.wake()
	}
}

// reclaimAfter starts a reclaim if etcd itself has rejected a write.
func (s *spaceQuota) reclaimAfter(err error) {
	if errors.Is(err, rpctypes.ErrNoSpace) {
		s.request()
	}
}

// problem returns why writes are rejected permanently, or nil if they are not or space is being
// reclaimed.
func (s *spaceQuota) problem() error {
	revision := s.etcd.KV().Rev()
	s.mu.Lock()
	failed, failedAt := s.failed, s.failedAt
	s.mu.Unlock()
	if failed != nil && failedAt == revision {
		return failed
	}
	if failed != nil || s.alarmed() {
		s.request()
	}
	return nil
}

// request starts a round, unless a requested round has not started yet.
func (s *spaceQuota) request() *round {
	s.mu.Lock()
	r := s.next
	r.requested = true
	s.mu.Unlock()
	s.wake()
	return r
}

func (s *spaceQuota) wake() {
	select {
	case s.wakeUp <- struct{}{}:
	default: // run is awake already
	}
}
