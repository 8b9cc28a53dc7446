package embedded_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/storage/embedded"
)

func TestMain(m *testing.M) {
	if child := children[os.Getenv(childFunc)]; child != nil {
		child(os.Getenv(childDir))
		return
	}
	os.Exit(leaktest.Run(m))
}

// start starts a server and closes it when the test ends.
func start(t *testing.T, cfg embedded.Config) *embedded.Server {
	t.Helper()
	server, err := embedded.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, server) })
	return server
}

// stop closes a server. It may be called twice. It uses its own context because the test's context
// has ended when cleanup functions run.
func stop(t *testing.T, server *embedded.Server) {
	t.Helper()
	if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// startFails expects that Start fails, and returns the error.
func startFails(t *testing.T, cfg embedded.Config) error {
	t.Helper()
	server, err := embedded.Start(t.Context(), cfg)
	if err == nil {
		stop(t, server)
		t.Fatal("started")
	}
	return err
}

func put(t *testing.T, client *clientv3.Client, key, value string) int64 {
	t.Helper()
	response, err := client.Put(t.Context(), key, value)
	if err != nil {
		t.Fatal(err)
	}
	return response.Header.Revision
}

func get(t *testing.T, client *clientv3.Client, key string, opts ...clientv3.OpOption) string {
	t.Helper()
	response, err := client.Get(t.Context(), key, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if len(response.Kvs) != 1 {
		t.Fatalf("%s: %d values", key, len(response.Kvs))
	}
	return string(response.Kvs[0].Value)
}

// Size of a seeded data directory.
const (
	seedKeys   = 80
	seedRounds = 3
)

// seed creates a data directory with some history: it writes each key in each round, compacts
// after the first round and creates and deletes more keys at the end.
func seed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	server := start(t, embedded.Config{DataDir: dir})
	client := server.Client()
	for round := range seedRounds {
		var last int64
		for i := range seedKeys {
			last = put(t, client, seedKey(i), seedValue(i, round))
		}
		if round == 0 {
			if _, err := client.Compact(t.Context(), last, clientv3.WithCompactPhysical()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := seedKeys; i < seedKeys+20; i++ {
		put(t, client, seedKey(i), "deleted")
		if _, err := client.Delete(t.Context(), seedKey(i)); err != nil {
			t.Fatal(err)
		}
	}
	stop(t, server)
	// bbolt allocates far more than it needs, which is slow to copy.
	const pageSize = 4096
	truncateTo((used(t, database(dir))/pageSize+1)*pageSize)(t, database(dir))
	return dir
}

func seedKey(i int) string          { return fmt.Sprintf("/registry/pods/default/pod-%04d", i) }
func seedValue(i, round int) string { return fmt.Sprintf("%0500d.%d", i, round) }

// checkSeed checks the values that seed wrote.
func checkSeed(t *testing.T, client *clientv3.Client) {
	t.Helper()
	response, err := client.Get(t.Context(), "/registry/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	if len(response.Kvs) != seedKeys {
		t.Fatalf("%d keys, want %d", len(response.Kvs), seedKeys)
	}
	for i, kv := range response.Kvs {
		if string(kv.Key) != seedKey(i) || string(kv.Value) != seedValue(i, seedRounds-1) {
			t.Fatalf("%s is %s", kv.Key, kv.Value)
		}
	}
}

// clone copies a data directory.
func clone(t *testing.T, dir string) string {
	t.Helper()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// used returns the size of a file without the zeros at its end.
func used(t *testing.T, path string) int64 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return int64(len(bytes.TrimRight(data, "\x00")))
}
