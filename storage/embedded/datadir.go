package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// Errors about a data directory.
var (
	// ErrInUse is returned when another server, in this or another process,
	// works on the data directory.
	ErrInUse = errors.New("in use by another server")
	// ErrForeign is returned when the data directory holds something that is
	// not the data of a single etcd.
	ErrForeign = errors.New("does not hold the data of an embedded etcd")
	// ErrCorrupt is returned when files of the data directory are damaged,
	// incomplete or missing.
	ErrCorrupt = errors.New("data is damaged")
)

const (
	lockName  = "miniapi.lock"
	memberDir = "member"
)

// dataDir is a locked directory for one etcd. A nil one has nothing to close.
type dataDir struct {
	path      string
	temporary bool
	lock      *fileutil.LockedFile
}

// openDataDir makes the directory if need be and locks it. An empty path makes
// a temporary one.
func openDataDir(path string) (*dataDir, error) {
	if path == "" {
		// Not below a test's own directory: etcd wants to remove it itself.
		temporary, err := os.MkdirTemp("", "miniapi-")
		return &dataDir{path: temporary, temporary: true}, err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("data directory %s: %w", path, err)
	}
	lock, err := lockDir(path)
	if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", path, err)
	}
	return &dataDir{path: path, lock: lock}, nil
}

func lockDir(path string) (*fileutil.LockedFile, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	// A file system's root has a directory for what fsck finds.
	ours := func(name string) bool { return name == lockName || name == "lost+found" }
	if !slices.Contains(names, memberDir) && !slices.ContainsFunc(names, ours) && len(names) > 0 {
		return nil, fmt.Errorf("%w: it has files, but no %s directory", ErrForeign, memberDir)
	}
	lock, err := fileutil.TryLockFile(filepath.Join(path, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, ErrInUse
	}
	return lock, err
}

func (d *dataDir) check(ctx context.Context) error { return ctx.Err() }

func (d *dataDir) close() error {
	if d == nil {
		return nil
	}
	if d.temporary {
		return os.RemoveAll(d.path)
	}
	return d.lock.Close()
}
