package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// openFiles is the directory of the process's file descriptors.
const openFiles = "/proc/self/fd"

// detachOpenFiles redirects all file descriptors of the process that refer to etcd's files in a
// data directory to the null device. A failed etcd that still runs can then no longer write to the
// files, and its locks are released. The lock of the data directory itself stays.
func detachOpenFiles(dir string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(openFiles)
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close() // its duplicates stay open
	var errs []error
	for _, entry := range entries {
		path, err := os.Readlink(filepath.Join(openFiles, entry.Name()))
		if err != nil || !strings.HasPrefix(path, filepath.Join(dir, memberDir)+string(filepath.Separator)) {
			continue
		}
		fd, err := strconv.Atoi(entry.Name())
		if err == nil {
			err = redirect(fd, null)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// redirect makes a descriptor refer to another file. A memory mapping of the old file stays, and
// would keep bbolt's lock on it.
func redirect(fd int, to *os.File) error {
	return errors.Join(syscall.Flock(fd, syscall.LOCK_UN), syscall.Dup3(int(to.Fd()), fd, syscall.O_CLOEXEC))
}
