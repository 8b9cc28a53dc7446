package tempdir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/miniapi/miniapi/internal/filelock"
)

// lockSuffix makes the name of a lock file of the name of a file.
const lockSuffix = ".lock"

// File is a file with a fixed name that belongs to its process. Its lock file is beside it.
type File struct {
	path string
	lock *os.File // nil: another process has claimed the file too
}

// claimInterval is the time between two attempts to claim a file, claimTimeout limits all of them.
const (
	claimInterval = 10 * time.Millisecond
	claimTimeout  = time.Second
)

// Claim makes a file belong to this process until Remove. The file need not exist. If a running
// process has claimed it, for example in another container, both use the file.
func Claim(path string) (*File, error) {
	for deadline := time.Now().Add(claimTimeout); ; {
		lock, err := filelock.TryLockName(path+lockSuffix, os.O_RDWR|os.O_CREATE)
		switch {
		case err == nil:
			return &File{path, lock}, nil
		case time.Now().Before(deadline): // another process may be removing the file
			time.Sleep(claimInterval)
		case errors.Is(err, filelock.ErrLocked):
			return &File{path: path}, nil
		default:
			return nil, err
		}
	}
}

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Remove removes the file, if it exists, with its lock file.
func (f *File) Remove() error {
	err := remove(f.path)
	if f.lock == nil {
		return err
	}
	lockErr := remove(f.path + lockSuffix) // before the lock is free, see TryLockName
	closeErr := f.lock.Close()
	if lockErr != nil { // Windows does not remove open files
		lockErr = remove(f.path + lockSuffix)
	}
	return errors.Join(err, lockErr, closeErr)
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RemoveAbandonedFiles removes the files of a directory whose name has the prefix and whose process
// has ended without Remove. It ends with ctx.
func RemoveAbandonedFiles(ctx context.Context, dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if ctx.Err() != nil {
			break
		}
		name, isLock := strings.CutSuffix(entry.Name(), lockSuffix)
		if isLock && strings.HasPrefix(name, prefix) {
			errs = append(errs, removeUnlockedFile(filepath.Join(dir, name)))
		}
	}
	return errors.Join(errs...)
}

// removeUnlockedFile removes a file whose lock file no process has locked.
func removeUnlockedFile(path string) error {
	lock, err := filelock.TryLockName(path+lockSuffix, os.O_RDWR)
	if errors.Is(err, filelock.ErrLocked) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return (&File{path, lock}).Remove()
}
