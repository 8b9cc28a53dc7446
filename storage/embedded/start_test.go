package embedded_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/miniapi/miniapi/storage/embedded"
)

func TestServerIsReadyWhenStartReturns(t *testing.T) {
	server := start(t, embedded.Config{})
	if revision := put(t, server.Client(), "/a", "1"); revision != 2 {
		t.Errorf("first write has revision %d, want 2", revision)
	}
	if got := get(t, server.Client(), "/a"); got != "1" {
		t.Errorf("/a is %q", got)
	}
	if urls := server.ClientURLs(); len(urls) != 0 {
		t.Errorf("listens at %v, want no listeners", urls)
	}
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	server := start(t, embedded.Config{})
	if names := list(t, temporary); len(names) != 1 {
		t.Errorf("files while running: %v", names)
	}
	put(t, server.Client(), "/a", "1")
	stop(t, server)
	if names := list(t, temporary); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestCloseIsIdempotent(t *testing.T) {
	server := start(t, embedded.Config{})
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() { stop(t, server) })
	}
	wait.Wait()
	stop(t, server)
	if err := server.Err(); err != nil {
		t.Errorf("ended by Close, but Err is %v", err)
	}
}

func TestCloseReturnsWhenItsContextEnds(t *testing.T) {
	server := start(t, embedded.Config{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	// Close may finish before it checks the context.
	if err := server.Close(ended); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	stop(t, server)
}

func TestRequestsEndWithTheServer(t *testing.T) {
	server := start(t, embedded.Config{})
	watch := server.Client().Watch(t.Context(), "/a")
	stop(t, server)
	for range watch { // must end
	}
	if _, err := server.Client().Put(t.Context(), "/a", "1"); err == nil {
		t.Error("a closed server accepted a write")
	}
}

func TestManyServersInOneProcess(t *testing.T) {
	var wait sync.WaitGroup
	for range 24 {
		wait.Go(func() {
			server, err := embedded.Start(t.Context(), embedded.Config{})
			if err != nil {
				t.Error(err)
				return
			}
			response, err := server.Client().Put(t.Context(), "/a", "1")
			if err != nil {
				t.Error(err)
			} else if response.Header.Revision != 2 {
				t.Errorf("revision %d: servers share data", response.Header.Revision)
			}
			stop(t, server)
		})
	}
	wait.Wait()
}

func TestStartEndsWithItsContext(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := embedded.Start(ended, embedded.Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if names := list(t, temporary); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestConfigValidateListsAllErrors(t *testing.T) {
	err := embedded.Config{
		QuotaBytes: -1,
		ListenClientURLs: []string{
			"https://127.0.0.1:1", "http://0.0.0.0:2", "http://127.0.0.1", "http://127.0.0.1:4/x",
			"http://example.com:5", "http://[::1]:6", "http://localhost:7", "::8",
		},
	}.Validate()
	want := strings.TrimSpace(`
client URL "https://127.0.0.1:1": the scheme must be http
client URL "http://0.0.0.0:2": must be a loopback address, since access is not authenticated
client URL "http://127.0.0.1": has no port
client URL "http://127.0.0.1:4/x": must be http://HOST:PORT
client URL "http://example.com:5": must be a loopback address, since access is not authenticated
client URL "::8": missing protocol scheme
quota -1: must not be negative`)
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		server, err := embedded.Start(b.Context(), embedded.Config{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := server.Client().Put(b.Context(), "/a", "1"); err != nil {
			b.Fatal(err)
		}
		if err := server.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
