package embedded

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// trimInterval is how often the log is trimmed that is not written to through
// the server's own client.
const trimInterval = 30 * time.Second

// trimmer removes the files of the write-ahead log that etcd needs no more. etcd
// does so as well, but every 30 seconds, while the log may grow by gigabytes, and
// with a warning if it finds a file that it still needs.
type trimmer struct {
	dir     string
	logger  *slog.Logger
	written atomic.Int64  // bytes since the last segment was full
	wakeUp  chan struct{} // of capacity 1
}

func newTrimmer(dir string, logger *slog.Logger) *trimmer {
	return &trimmer{dir: dir, logger: logger, wakeUp: make(chan struct{}, 1)}
}

// wrote counts the bytes of a write. After each segment it wakes run up.
func (t *trimmer) wrote(size int64) {
	if t.written.Add(size) < segmentSize {
		return
	}
	t.written.Store(0)
	select {
	case t.wakeUp <- struct{}{}:
	default: // it is awake
	}
}

// run trims the log until ctx ends.
func (t *trimmer) run(ctx context.Context) {
	ticks := time.NewTicker(trimInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		case <-t.wakeUp:
		}
		if err := t.trim(); err != nil {
			t.logger.WarnContext(ctx, "files of the write-ahead log cannot be removed", "error", err)
		}
	}
}

// trim removes the oldest files up to the first that etcd has locked, which it
// does with all that it needs.
func (t *trimmer) trim() error {
	paths, err := logFiles(t.dir)
	if err != nil {
		return err
	}
	for _, path := range paths[:max(len(paths)-1, 0)] {
		file, err := fileutil.TryLockFile(path, os.O_WRONLY, fileutil.PrivateFileMode)
		if errors.Is(err, fileutil.ErrLocked) {
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
