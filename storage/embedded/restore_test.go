package embedded_test

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage/embedded"
)

// The snapshot is of a kube-apiserver's etcd. The Deployment demo/m was changed ten times after
// its creation.
const (
	recorded   = "testdata/kube-apiserver-v1.36.3.db.gz"
	deployment = "/registry/deployments/demo/m"
)

func TestRestoredSnapshotHasItsHistory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "restored")
	if err := embedded.Restore(t.Context(), unpack(t), dir); err != nil {
		t.Fatal(err)
	}
	client := start(t, embedded.Config{DataDir: dir}).Client()
	all, err := client.Get(t.Context(), "/registry/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	if all.Count != 254 || all.Header.Revision != 316 {
		t.Errorf("%d keys at revision %d, want 254 at 316", all.Count, all.Header.Revision)
	}
	watch := client.Watch(t.Context(), deployment, clientv3.WithRev(1))
	for version := int64(1); version <= 11; {
		for _, event := range (<-watch).Events {
			if event.Kv.Version != version {
				t.Fatalf("%s: version %d, want %d", deployment, event.Kv.Version, version)
			}
			version++
		}
	}
	if got := put(t, client, "/a", "1"); got != all.Header.Revision+1 {
		t.Errorf("first write has revision %d, want %d", got, all.Header.Revision+1)
	}
}

func TestRestoredSnapshotSurvivesRestarts(t *testing.T) {
	dir := t.TempDir()
	if err := embedded.Restore(t.Context(), unpack(t), dir); err != nil {
		t.Fatal(err)
	}
	var last int64
	for range 3 {
		server := start(t, embedded.Config{DataDir: dir})
		revision := put(t, server.Client(), "/a", "1")
		if last != 0 && revision != last+1 {
			t.Errorf("revision %d follows %d", revision, last)
		}
		last = revision
		stop(t, server)
	}
}

func TestRestoreOfOwnSnapshot(t *testing.T) {
	dir := seed(t)
	server := start(t, embedded.Config{DataDir: dir})
	stream, err := server.Client().Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	snapshot := filepath.Join(t.TempDir(), "snapshot.db")
	writeFile(t, snapshot, stream)
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	stop(t, server)
	for name, path := range map[string]string{
		"a snapshot with a checksum":           snapshot,
		"a copied database without a checksum": database(dir),
	} {
		t.Run(name, func(t *testing.T) {
			restored := t.TempDir()
			if err := embedded.Restore(t.Context(), path, restored); err != nil {
				t.Fatal(err)
			}
			checkSeed(t, start(t, embedded.Config{DataDir: restored}).Client())
		})
	}
}

func TestRestoreOfDamagedSnapshot(t *testing.T) {
	healthy := unpack(t)
	info, err := os.Stat(healthy)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(*testing.T, string){
		"a bit flipped":            flipBit(info.Size() / 2),
		"truncated":                truncateTo(info.Size() / 2 / 4096 * 4096),
		"empty":                    truncateTo(0),
		"truncated by a few bytes": truncateTo(info.Size() - 5),
		"not a snapshot":           overwrite(0, garbage(int(info.Size()))),
	} {
		t.Run(name, func(t *testing.T) {
			snapshot := filepath.Join(clone(t, filepath.Dir(healthy)), filepath.Base(healthy))
			damage(t, snapshot)
			dir := filepath.Join(t.TempDir(), "restored")
			if err := embedded.Restore(t.Context(), snapshot, dir); !errors.Is(err, embedded.ErrCorrupt) {
				t.Errorf("error %v", err)
			}
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("left behind: %v", list(t, dir))
			}
		})
	}
}

func TestRestoreDoesNotOverwrite(t *testing.T) {
	dir := seed(t)
	if err := embedded.Restore(t.Context(), unpack(t), dir); !errors.Is(err, os.ErrExist) {
		t.Errorf("error %v", err)
	}
	server := start(t, embedded.Config{DataDir: dir})
	checkSeed(t, server.Client())
	if err := embedded.Restore(t.Context(), unpack(t), dir); !errors.Is(err, embedded.ErrInUse) {
		t.Errorf("error %v", err)
	}
}

func TestRestoreAfterKilledRestore(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "member.partial", "snap"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := startFails(t, embedded.Config{DataDir: dir}); !errors.Is(err, embedded.ErrForeign) {
		t.Errorf("Start on an incomplete restore: %v", err)
	}
	if err := embedded.Restore(t.Context(), unpack(t), dir); err != nil {
		t.Fatal(err)
	}
	start(t, embedded.Config{DataDir: dir})
}

func TestRestoreOfMissingSnapshot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "restored")
	err := embedded.Restore(t.Context(), "no-such-file.db", dir)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// unpack returns the path of the unpacked snapshot, which is the only file in its directory.
func unpack(t *testing.T) string {
	t.Helper()
	packed, err := os.Open(recorded)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	reader, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "snapshot.db")
	writeFile(t, path, reader)
	return path
}

func writeFile(t *testing.T, path string, content io.Reader) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(file, content)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}
