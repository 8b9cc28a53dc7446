package embedded_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/miniapi/miniapi/storage/embedded"
)

func TestDamagedWAL(t *testing.T) {
	healthy := seed(t)
	_, size := logFile(t, healthy)
	for name, damage := range map[string]func(t *testing.T, log string){
		"empty":                            truncateTo(0),
		"truncated after a few bytes":      truncateTo(5),
		"truncated in the first record":    truncateTo(20),
		"truncated to a tenth":             truncateTo(size / 10),
		"truncated to a half":              truncateTo(size / 2),
		"truncated by a few entries":       truncateTo(size - 1000),
		"a bit flipped at the start":       flipBit(9),
		"a bit flipped in the first tenth": flipKey(size / 10),
		"a bit flipped in the middle":      flipKey(size / 2),
		"zeroed from the middle on":        overwrite(size/2, make([]byte, size/2)),
		"a page zeroed":                    overwrite(size/4, make([]byte, 4096)),
		"garbage":                          overwrite(0, garbage(int(size))),
		"missing":                          remove,
	} {
		t.Run(name, func(t *testing.T) {
			dir := clone(t, healthy)
			log, _ := logFile(t, dir)
			damage(t, log)
			expectDamaged(t, dir)
		})
	}
}

func TestMissingWALFile(t *testing.T) {
	dir := t.TempDir()
	server := start(t, embedded.Config{DataDir: dir})
	value := string(make([]byte, 1<<20))
	for range 22 {
		put(t, server.Client(), "/a", value)
	}
	stop(t, server)
	logs, err := filepath.Glob(filepath.Join(dir, "member", "wal", "*.wal"))
	if err != nil {
		t.Fatal(err)
	}
	if len(logs) < 4 {
		t.Fatalf("only %d files", len(logs))
	}
	for name, missing := range map[string]string{
		"the first": logs[0], "a middle one": logs[len(logs)/2], "the last": logs[len(logs)-1],
	} {
		t.Run(name, func(t *testing.T) {
			copied := clone(t, dir)
			remove(t, filepath.Join(copied, "member", "wal", filepath.Base(missing)))
			expectDamaged(t, copied)
		})
	}
}

// A crash may leave an incomplete record of a write that was not acknowledged. The data is intact.
func TestTornRecordAtEndOfWALIsTruncated(t *testing.T) {
	dir := seed(t)
	log, size := logFile(t, dir)
	// Only the first sector of a record of 2048 bytes is on the disk.
	const frame = "\x00\x08\x00\x00\x00\x00\x00\x00"
	overwrite(size, []byte(frame+"the beginning"))(t, log)
	server := start(t, embedded.Config{DataDir: dir})
	checkSeed(t, server.Client())
	put(t, server.Client(), "/a", "1")
	stop(t, server)
	if got := get(t, start(t, embedded.Config{DataDir: dir}).Client(), "/a"); got != "1" {
		t.Errorf("/a is %q", got)
	}
}

// expectDamaged expects that Start returns ErrCorrupt and unlocks the directory.
func expectDamaged(t *testing.T, dir string) {
	t.Helper()
	before := list(t, dir)
	for range 2 {
		if err := startFails(t, embedded.Config{DataDir: dir}); !errors.Is(err, embedded.ErrCorrupt) {
			t.Errorf("error %v", err)
		}
	}
	if after := list(t, dir); len(after) != len(before) {
		t.Errorf("files before: %v, after: %v", before, after)
	}
}

// logFile returns the only file of a log, and the size of its content.
func logFile(t *testing.T, dir string) (string, int64) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "member", "wal", "*.wal"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("%v, %v", logs, err)
	}
	return logs[0], (used(t, logs[0]) + 7) / 8 * 8 // records are padded
}

func truncateTo(size int64) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
}

func overwrite(offset int64, data []byte) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		change(t, path, func(file *os.File) error {
			_, err := file.WriteAt(data, offset)
			return err
		})
	}
}

func flipBit(offset int64) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		change(t, path, func(file *os.File) error {
			data := make([]byte, 1)
			if _, err := file.ReadAt(data, offset); err != nil {
				return err
			}
			data[0] ^= 0x10
			_, err := file.WriteAt(data, offset)
			return err
		})
	}
}

// flipKey flips a bit of the first key of an entry from an offset on. The padding between records,
// which no checksum covers, is elsewhere in each log.
func flipKey(from int64) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(data[from:], []byte("/registry/"))
		if at < 0 {
			t.Fatal("no key follows")
		}
		flipBit(from+int64(at))(t, path)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func change(t *testing.T, path string, modify func(*os.File) error) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		t.Fatal(err)
	}
	if err := errors.Join(err, modify(file), file.Close()); err != nil {
		t.Fatal(err)
	}
}

// garbage returns pseudo-random bytes, the same in each call.
func garbage(size int) []byte {
	data, state := make([]byte, size), uint32(1)
	for i := range data {
		state = state*1664525 + 1013904223
		data[i] = byte(state >> 24)
	}
	return data
}
