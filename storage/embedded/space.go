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
	// spareBytes must be free below the limit after room has been made: one
	// request of the largest size.
	spareBytes = MaxRequestBytes + 64<<10
	// A quarter of the quota, within these bounds, is between the limit and the
	// quota: room for the bytes that the database adds to writes. It writes
	// large values again when their neighbours change.
	minReserved = 8 << 20
	maxReserved = 32 << 20
	// A compaction by size keeps, if possible, quota/keptPart bytes of history, and
	// the next one follows after as many bytes were written.
	keptPart = 8
)

// space keeps a database below its quota. etcd counts the whole file, history
// and free pages included. Once the file has reached the quota etcd refuses all
// puts until the file is defragmented and an alarm is disarmed, and it returns
// the same error for writes that it has applied by then. So a write has to be
// admitted before etcd gets it: it is either refused or below the quota.
//
// The history is compacted by size while writes go on. A write that is not
// admitted starts a round that does all that is needed for it to succeed.
type space struct {
	etcd   *etcdserver.EtcdServer
	db     backend.Backend
	quota  int64
	limit  int64 // of the file's size, up to which writes are admitted
	logger *slog.Logger
	wakeUp chan struct{} // of capacity 1
	ended  chan struct{} // closed by run at its end

	mu      sync.Mutex // guards what follows
	history history
	// compacted is history.written at the last compaction by size.
	compacted int64
	// inFlight is the size of the writes that were sent to etcd and not answered,
	// pending the size of the writes that db.Size may not include yet.
	inFlight, pending int64
	next              *round // that begins after the one under way
	// failed is the error of the last round, nil if it succeeded, and failedAt
	// the revision of the store then: as long as that is the same, another round
	// would fail, too.
	failed   error
	failedAt int64
}

// round is one attempt to make room.
type round struct {
	requested bool          // by a write that was not admitted
	done      chan struct{} // closed at its end; err is set before
	err       error
}

func newRound() *round { return &round{done: make(chan struct{})} }

func newSpace(etcd *etcdserver.EtcdServer, logger *slog.Logger) *space {
	quota := etcd.Cfg.QuotaBackendBytes
	if quota == 0 {
		quota = serverstorage.DefaultQuotaBytes
	}
	return &space{
		etcd: etcd, db: etcd.Backend(), quota: quota, limit: limitOf(quota), logger: logger,
		wakeUp: make(chan struct{}, 1), ended: make(chan struct{}), next: newRound(),
		history: history{step: quota / keptPart / 8},
	}
}

func limitOf(quota int64) int64 {
	return max(quota/2, quota-min(max(quota/4, minReserved), maxReserved))
}

// admit returns when there is room for a write of a size, which must then be
// released. An error says that there is none and what to do, and wraps etcd's
// ErrNoSpace, or is a notSentError.
func (s *space) admit(ctx context.Context, size int64) error {
	for !s.reserve(size) {
		r := s.request()
		select {
		case <-r.done:
		case <-s.ended:
			return &notSentError{errStopping}
		case <-ctx.Done():
			return &notSentError{ctx.Err()}
		}
		if r.err != nil {
			if s.reserve(size) { // there is room for this one, though not for the largest
				return nil
			}
			return fmt.Errorf("%w: %w", rpctypes.ErrNoSpace, r.err)
		}
	}
	return nil
}

func (s *space) reserve(size int64) bool {
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

// release ends an admitted write, which has made a revision or 0. Once in a while
// it starts a compaction by size.
func (s *space) release(size, revision int64) {
	s.mu.Lock()
	s.inFlight -= size
	if revision > 0 {
		s.history.add(revision, size)
	}
	due := s.history.written-s.compacted >= s.quota/keptPart && s.db.SizeInUse() >= s.quota/2
	if due {
		s.compacted = s.history.written
	}
	s.mu.Unlock()
	if due {
		s.wake()
	}
}

// heed starts to make room after etcd itself has refused a write.
func (s *space) heed(err error) {
	if errors.Is(err, rpctypes.ErrNoSpace) {
		s.request()
	}
}

// problem returns why writes are refused and stay so, nil if they are not or
// room is being made.
func (s *space) problem() error {
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

// request starts a round, unless one is about to begin already.
func (s *space) request() *round {
	s.mu.Lock()
	r := s.next
	r.requested = true
	s.mu.Unlock()
	s.wake()
	return r
}

func (s *space) wake() {
	select {
	case s.wakeUp <- struct{}{}:
	default: // it is awake
	}
}
