// Package filelock takes the locks with which etcd and bbolt protect their files, without waiting.
// On Windows it replaces etcd's functions, which report a locked file as free, and panic if the
// flags include both os.O_RDWR and os.O_CREATE.
package filelock

import (
	"errors"
	"io/fs"
	"os"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// ErrLocked is returned if the file is locked, by this or another process.
var ErrLocked = fileutil.ErrLocked

// TryLockFile opens a file with the flags of os.OpenFile and takes the lock that etcd takes on its
// files. The file must be opened for writing. Closing it releases the lock.
func TryLockFile(path string, flag int) (*os.File, error) { return tryLockFile(path, flag) }

// TryLockName is TryLockFile for a file that is removed by the process that has locked it. If that
// happens between the opening of the file and its lock, the error is fs.ErrNotExist.
func TryLockName(path string, flag int) (*os.File, error) {
	file, err := TryLockFile(path, flag)
	if err != nil {
		return nil, err
	}
	locked, err := file.Stat()
	if err == nil {
		var existing fs.FileInfo
		if existing, err = os.Stat(path); err == nil && !os.SameFile(locked, existing) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// TryLockDatabase takes the lock that bbolt takes on an open database, and would wait for without a
// limit. Closing the file releases the lock.
func TryLockDatabase(file *os.File) error { return tryLockDatabase(file) }
