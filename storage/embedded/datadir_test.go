package embedded_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage/embedded"
)

func TestDataSurvivesRestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b", "c")
	first := start(t, embedded.Config{DataDir: dir})
	put(t, first.Client(), "/a", "old")
	last := put(t, first.Client(), "/a", "new")
	stop(t, first)

	second := start(t, embedded.Config{DataDir: dir})
	if got := get(t, second.Client(), "/a"); got != "new" {
		t.Errorf("/a is %q", got)
	}
	if got := get(t, second.Client(), "/a", clientv3.WithRev(last-1)); got != "old" {
		t.Errorf("/a was %q", got)
	}
	if got := put(t, second.Client(), "/a", "newer"); got != last+1 {
		t.Errorf("revision %d after the restart, want %d", got, last+1)
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("data directory has mode %o", info.Mode().Perm())
	}
}

func TestDataDirInUse(t *testing.T) {
	dir := t.TempDir()
	server := start(t, embedded.Config{DataDir: dir})
	if err := startFails(t, embedded.Config{DataDir: dir}); !errors.Is(err, embedded.ErrInUse) {
		t.Errorf("error %v", err)
	}
	put(t, server.Client(), "/a", "the first server still runs")
	stop(t, server)
	start(t, embedded.Config{DataDir: dir})
}

func TestDataDirInUseByAnotherProgram(t *testing.T) {
	dir := seed(t)
	t.Run("a program that locks the database", func(t *testing.T) {
		db, err := bolt.Open(database(dir), 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := startFails(t, embedded.Config{DataDir: dir}); !errors.Is(err, embedded.ErrInUse) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a server whose lock file was removed", func(t *testing.T) {
		start(t, embedded.Config{DataDir: dir})
		if err := os.Remove(filepath.Join(dir, "miniapi.lock")); err != nil {
			t.Fatal(err)
		}
		if err := startFails(t, embedded.Config{DataDir: dir}); !errors.Is(err, embedded.ErrInUse) {
			t.Errorf("error %v", err)
		}
	})
}

func TestDataDirWithForeignFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := startFails(t, embedded.Config{DataDir: dir}); !errors.Is(err, embedded.ErrForeign) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"thesis.tex"}, list(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// Without the other members, etcd would wait forever.
func TestDataDirOfAClusterMember(t *testing.T) {
	dir := seed(t)
	db, err := bolt.Open(database(dir), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("members")).Put([]byte("8e9e05c52164694d"), []byte(`{"id":10276657743932975437}`))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if err := startFails(t, embedded.Config{DataDir: dir}); !errors.Is(err, embedded.ErrForeign) {
		t.Errorf("error %v", err)
	}
}

func TestInvalidDataDir(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{
		"a file":          file,
		"below a file":    filepath.Join(file, "dir"),
		"not writable":    "/proc/self/task/miniapi",
		"an invalid name": "a\x00b",
	} {
		t.Run(name, func(t *testing.T) {
			var cause syscall.Errno
			if err := startFails(t, embedded.Config{DataDir: dir}); !errors.As(err, &cause) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestFailedStartRemovesCreatedDir(t *testing.T) {
	busy := start(t, embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	dir := filepath.Join(t.TempDir(), "new")
	startFails(t, embedded.Config{DataDir: dir, ListenClientURLs: busy.ClientURLs()})
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v", dir, err)
	}
}

func TestLostAndFoundIsIgnored(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "lost+found"), 0o700); err != nil {
		t.Fatal(err)
	}
	start(t, embedded.Config{DataDir: dir})
}
