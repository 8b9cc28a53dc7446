package embedded

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/miniapi/miniapi/internal/filelock"
)

// purgeInterval is the interval of purging a log that is written to by other clients than the
// server's own.
const purgeInterval = 30 * time.Second

// walPurger removes the files of the write-ahead log that etcd no longer needs. etcd removes them
// too, but only every 30 seconds, in which the log may grow by gigabytes, and with a warning if it
// finds a file that it still needs.
type walPurger struct {
	dir     string
	logger  *slog.Logger
	written atomic.Int64  // bytes since the last full segment
	wakeUp  chan struct{} // capacity 1
}

func newWALPurger(dir string, logger *slog.Logger) *walPurger {
	return &walPurger{dir: dir, logger: logger, wakeUp: make(chan struct{}, 1)}
}

// countWrite counts the bytes of a write. It wakes run after each full segment.
func (p *walPurger) countWrite(size int64) {
	if p.written.Add(size) < segmentSize {
		return
	}
	p.written.Store(0)
	select {
	case p.wakeUp <- struct{}{}:
	default: // run is awake already
	}
}

// run purges the log until ctx ends.
func (p *walPurger) run(ctx context.Context) {
	ticks := time.NewTicker(purgeInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		case <-p.wakeUp:
		}
		if err := p.purge(); err != nil {
			p.logger.WarnContext(ctx, "cannot remove files of the write-ahead log", "error", err)
		}
	}
}

// purge removes the oldest files up to the first one that etcd has locked: etcd locks each file
// that it needs.
func (p *walPurger) purge() error {
	paths, err := logFiles(p.dir)
	if err != nil {
		return err
	}
	for _, path := range paths[:max(len(paths)-1, 0)] {
		file, err := filelock.TryLockFile(path, os.O_WRONLY)
		if errors.Is(err, filelock.ErrLocked) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := errors.Join(os.Remove(path), file.Close()); err != nil {
			return err
		}
	}
	return nil
}
