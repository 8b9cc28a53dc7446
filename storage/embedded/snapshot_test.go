package embedded_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage/embedded"
)

func TestStartFromSnapshot(t *testing.T) {
	snapshot := unpack(t)
	before, err := os.ReadFile(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	server := start(t, embedded.Config{Snapshot: snapshot})
	all, err := server.Client().Get(t.Context(), "/registry/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || all.Count != 254 || all.Header.Revision != 316 {
		t.Errorf("%d keys at revision %d, %v, want 254 at 316", all.Count, all.Header.Revision, err)
	}
	put(t, server.Client(), "/a", "1")
	stop(t, server)
	if after, err := os.ReadFile(snapshot); err != nil || string(after) != string(before) {
		t.Errorf("the snapshot was changed: %v", err)
	}
	if files := list(t, filepath.Dir(snapshot)); len(files) != 1 {
		t.Errorf("files beside the snapshot: %v", files)
	}
}

// A data directory is a snapshot too, named with or without "member". It stays as it is.
func TestStartFromDataDirectory(t *testing.T) {
	dir := seed(t)
	for _, path := range []string{dir, filepath.Join(dir, "member")} {
		before := list(t, dir)
		server := start(t, embedded.Config{Snapshot: path})
		checkSeed(t, server.Client())
		stop(t, server)
		if after := list(t, dir); len(after) != len(before) {
			t.Errorf("files before: %v, after: %v", before, after)
		}
	}
	running := start(t, embedded.Config{DataDir: dir})
	if err := startFails(t, embedded.Config{Snapshot: dir}); !errors.Is(err, embedded.ErrInUse) {
		t.Errorf("the directory of a running etcd: %v", err)
	}
	stop(t, running)
	if err := startFails(t, embedded.Config{Snapshot: t.TempDir()}); !errors.Is(err, embedded.ErrForeign) {
		t.Errorf("an empty directory: %v", err)
	}
}

func TestSnapshotIsNotServedFromADataDirectory(t *testing.T) {
	if err := startFails(t, embedded.Config{Snapshot: unpack(t), DataDir: t.TempDir()}); err == nil {
		t.Error("no error")
	}
}

// Each release of etcd has added keys to the bucket "meta", which a snapshot of an older one lacks.
func TestSnapshotsOfOlderEtcds(t *testing.T) {
	later := []string{"storageVersion", "term", "confState"} // of etcd 3.6, 3.5 and 3.5
	for name, removed := range map[string][]string{"etcd 3.5": later[:1], "etcd 3.4": later} {
		t.Run(name, func(t *testing.T) {
			snapshot := unpack(t)
			info, err := os.Stat(snapshot)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(snapshot, info.Size()-sha256.Size); err != nil {
				t.Fatal(err)
			}
			removeMeta(t, snapshot, removed)
			server := start(t, embedded.Config{Snapshot: snapshot})
			all, err := server.Client().Get(t.Context(), "/registry/", clientv3.WithPrefix(), clientv3.WithCountOnly())
			if err != nil || all.Count != 254 || all.Header.Revision != 316 {
				t.Errorf("%d keys at revision %d, %v, want 254 at 316", all.Count, all.Header.Revision, err)
			}
		})
	}
}

// removeMeta removes keys of the bucket "meta" of a database.
func removeMeta(t *testing.T, path string, keys []string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, key := range keys {
			if err := tx.Bucket([]byte("meta")).Delete([]byte(key)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
