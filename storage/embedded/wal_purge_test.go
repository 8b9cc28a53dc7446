package embedded_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/storage/embedded"
)

// logSize returns the bytes of the write-ahead log.
func logSize(t *testing.T, dir string) int64 {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "member", "wal", "*.wal"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%v, %v", paths, err)
	}
	var size int64
	for _, path := range paths {
		info, err := os.Stat(path)
		if os.IsNotExist(err) {
			continue // removed meanwhile
		}
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	return size
}

// With large values, the log reaches its size limit long before etcd's limit of entries.
func TestWALSizeIsBounded(t *testing.T) {
	const limit = 200 << 20
	dir := t.TempDir()
	server := start(t, embedded.Config{DataDir: dir, UnsafeNoFsync: true})
	value := strings.Repeat("x", 256<<10)
	var largest int64
	for range 1200 {
		put(t, server.Client(), "/a", value)
		largest = max(largest, logSize(t, dir))
	}
	if largest > limit {
		t.Errorf("the log had %d MiB", largest>>20)
	}
	stop(t, server)
	if get(t, start(t, embedded.Config{DataDir: dir}).Client(), "/a") != value {
		t.Error("the last value is lost")
	}
}

// etcd uses two segments of its log if a snapshot is older than the second segment.
func TestServerWithTwoSegmentsLogsNoWarning(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	server := start(t, embedded.Config{DataDir: dir, UnsafeNoFsync: true, Logger: logger})
	for range 6 {
		put(t, server.Client(), "/a", strings.Repeat("x", 1<<20))
	}
	stop(t, server)
	server = start(t, embedded.Config{DataDir: dir, UnsafeNoFsync: true, Logger: logger})
	put(t, server.Client(), "/a", "x")
	stop(t, server)
	if strings.Contains(log.String(), "lock") {
		t.Errorf("logged:\n%s", log.String())
	}
}
