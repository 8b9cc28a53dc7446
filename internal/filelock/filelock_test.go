package filelock_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"

	"github.com/miniapi/miniapi/internal/filelock"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestLockedFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	file, err := filelock.TryLockFile(path, os.O_RDWR|os.O_CREATE)
	check(t, err)
	if _, err := filelock.TryLockFile(path, os.O_RDWR|os.O_CREATE); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("error %v", err)
	}
	check(t, file.Close())
	again, err := filelock.TryLockFile(path, os.O_WRONLY)
	check(t, err)
	check(t, again.Close())
}

func TestErrorNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "lock")
	_, err := filelock.TryLockFile(path, os.O_RDWR|os.O_CREATE)
	if want := (&fs.PathError{}); !errors.As(err, &want) || err.Error() != want.Error() || want.Path != path {
		t.Errorf("error %v", err)
	}
}

func TestLockOfEtcdIsRespected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "segment.wal")
	segment, err := fileutil.LockFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	check(t, err)
	if _, err := filelock.TryLockFile(path, os.O_RDWR); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("error %v", err)
	}
	check(t, segment.Close())
}

func TestLockedFileCanBeRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	file, err := filelock.TryLockFile(path, os.O_RDWR|os.O_CREATE)
	check(t, err)
	check(t, errors.Join(os.Remove(path), file.Close()))
	if _, err := filelock.TryLockFile(path, os.O_RDWR); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that the file does not exist", err)
	}
}

func TestLockOfBoltIsRespected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db, err := bolt.Open(path, 0o600, nil)
	check(t, err)
	file, err := os.Open(path)
	check(t, err)
	defer file.Close()
	if err := filelock.TryLockDatabase(file); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("error %v", err)
	}
	check(t, db.Close())
	check(t, filelock.TryLockDatabase(file))
}
