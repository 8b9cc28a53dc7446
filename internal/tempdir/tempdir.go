// Package tempdir creates temporary directories, and files with fixed names, that do not outlive
// their process for long: each is locked by its process, so that a later process can remove those
// of processes that were killed.
package tempdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/miniapi/miniapi/internal/filelock"
)

const (
	prefix = "miniapi-"
	// lockName is the file in a directory that its process locks. A directory without it is never
	// removed by another process.
	//
	// Invariant: the file is locked before it has this name.
	lockName = "miniapi.lock"
)

// Dir is a locked temporary directory.
type Dir struct {
	path string
	lock *os.File
}

// New creates a directory with the name miniapi-KIND-NUMBER. The caller must call Remove.
func New(kind string) (*Dir, error) {
	path, err := os.MkdirTemp("", prefix+kind+"-")
	if err != nil {
		return nil, err
	}
	unnamed := filepath.Join(path, lockName+".new")
	lock, err := filelock.TryLockFile(unnamed, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), os.RemoveAll(path))
	}
	dir := &Dir{path, lock}
	if err := os.Rename(unnamed, filepath.Join(path, lockName)); err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	return dir, nil
}

// Path returns the path of the directory.
func (d *Dir) Path() string { return d.path }

// Remove removes the directory with its content.
func (d *Dir) Remove() error {
	err := os.RemoveAll(d.path) // before the lock is free, see TryLockName
	closeErr := d.lock.Close()
	if err != nil { // Windows does not remove open files
		err = os.RemoveAll(d.path)
	}
	return errors.Join(err, closeErr)
}

// RemoveAbandoned removes the directories of this user whose process has ended without Remove. It
// ends with ctx.
func RemoveAbandoned(ctx context.Context) error {
	parent := os.TempDir()
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if ctx.Err() != nil {
			break
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), prefix) && isOwn(entry) {
			errs = append(errs, removeUnlocked(filepath.Join(parent, entry.Name())))
		}
	}
	return errors.Join(errs...)
}

// removeUnlocked removes a directory with a lock file that no process has locked.
func removeUnlocked(dir string) error {
	lock, err := filelock.TryLockName(filepath.Join(dir, lockName), os.O_RDWR)
	if errors.Is(err, filelock.ErrLocked) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return (&Dir{dir, lock}).Remove()
}
