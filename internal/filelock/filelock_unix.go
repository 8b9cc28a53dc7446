//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

func tryLockFile(path string, flag int) (*os.File, error) {
	locked, err := fileutil.TryLockFile(path, flag, fileutil.PrivateFileMode)
	if err != nil {
		return nil, err
	}
	return locked.File, nil
}

func tryLockDatabase(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
