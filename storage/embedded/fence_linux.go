package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// openFiles lists the file descriptors of the process.
const openFiles = "/proc/self/fd"

// fence makes all that the process has open of etcd's files in a data directory
// refer to the null device: an etcd that has failed but not stopped can write to
// them no more, and its locks are released. The lock of the directory itself
// stays.
func fence(dir string) error {
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
	defer null.Close() // the copies stay open
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

// redirect makes a descriptor refer to another file. A mapping of its own file
// stays, and would keep the lock that bbolt has on it.
func redirect(fd int, to *os.File) error {
	return errors.Join(syscall.Flock(fd, syscall.LOCK_UN), syscall.Dup3(int(to.Fd()), fd, syscall.O_CLOEXEC))
}
