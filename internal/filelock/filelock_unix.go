//go:build unix

package filelock

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

func tryLockFile(path string, flag int) (*os.File, error) {
	locked, err := fileutil.TryLockFile(path, flag, fileutil.PrivateFileMode)
	var unopened *fs.PathError
	if errors.As(err, &unopened) {
		return nil, unopened // without the name of etcd's function
	}
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
