package filelock

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// etcdOffset and databaseOffset are the positions of the byte that etcd and bbolt lock.
const (
	etcdOffset     = 0
	databaseOffset = math.MaxUint64
)

// tryLockFile lets other handles delete the file, as etcd does: os.OpenFile does not.
func tryLockFile(path string, flag int) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	disposition := uint32(windows.OPEN_EXISTING)
	if flag&os.O_CREATE != 0 {
		disposition = windows.OPEN_ALWAYS
	}
	handle, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, disposition, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	file := os.NewFile(uintptr(handle), path)
	if err := tryLock(file, etcdOffset); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func tryLockDatabase(file *os.File) error { return tryLock(file, databaseOffset) }

// tryLock locks one byte, which need not exist.
func tryLock(file *os.File, offset uint64) error {
	err := windows.LockFileEx(windows.Handle(file.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		&windows.Overlapped{Offset: uint32(offset), OffsetHigh: uint32(offset >> 32)})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
