// Package filelock takes the locks with which etcd and bbolt protect their files, without waiting.
// On Windows it replaces etcd's functions, which report a locked file as free, and panic if the
// flags include both os.O_RDWR and os.O_CREATE.
package filelock

import (
	"os"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// ErrLocked is returned if the file is locked, by this or another process.
var ErrLocked = fileutil.ErrLocked

// TryLockFile opens a file with the flags of os.OpenFile and takes the lock that etcd takes on its
// files. The file must be opened for writing. Closing it releases the lock.
func TryLockFile(path string, flag int) (*os.File, error) { return tryLockFile(path, flag) }

// TryLockDatabase takes the lock that bbolt takes on an open database, and would wait for without a
// limit. Closing the file releases the lock.
func TryLockDatabase(file *os.File) error { return tryLockDatabase(file) }
