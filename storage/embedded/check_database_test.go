package embedded_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/miniapi/miniapi/storage/embedded"
)

func TestDamagedDatabase(t *testing.T) {
	healthy := seed(t)
	info, err := os.Stat(database(healthy))
	if err != nil {
		t.Fatal(err)
	}
	size := info.Size()
	for name, damage := range map[string]func(t *testing.T, db string){
		"missing":                        remove,
		"empty":                          truncateTo(0),
		"truncated to a byte":            truncateTo(1),
		"truncated in the first page":    truncateTo(100),
		"truncated to a page":            truncateTo(4096),
		"truncated to the meta pages":    truncateTo(2 * 4096),
		"truncated to four pages":        truncateTo(4 * 4096),
		"truncated to 64 KiB":            truncateTo(64 << 10),
		"both meta pages zeroed":         overwrite(0, make([]byte, 2*4096)),
		"all but the meta pages zeroed":  overwrite(2*4096, make([]byte, size-2*4096)),
		"all but the meta pages garbage": overwrite(2*4096, garbage(int(size-2*4096))),
		"garbage":                        overwrite(0, garbage(int(size))),
		"all of it zeroed":               overwrite(0, make([]byte, size)),
	} {
		t.Run(name, func(t *testing.T) {
			dir := clone(t, healthy)
			damage(t, database(dir))
			expectDamaged(t, dir)
		})
	}
}

// Pages may be free and values may have any content, so not all damage can be detected. Start must
// return ErrCorrupt, or a server that serves and can be closed.
func TestRandomDamageIsDetectedOrHarmless(t *testing.T) {
	healthy := seed(t)
	const pageSize = 4096
	pages := used(t, database(healthy)) / pageSize
	random := rand.New(rand.NewPCG(1, 2))
	detected := 0
	for range 40 {
		dir, page := clone(t, healthy), random.Int64N(pages)
		switch random.IntN(3) {
		case 0:
			overwrite(page*pageSize, make([]byte, pageSize))(t, database(dir))
		case 1:
			overwrite(page*pageSize, garbage(pageSize))(t, database(dir))
		default:
			flipBit(page*pageSize+random.Int64N(64))(t, database(dir))
		}
		server, err := embedded.Start(t.Context(), embedded.Config{DataDir: dir})
		if err == nil {
			put(t, server.Client(), "/a", "1")
			stop(t, server)
			continue
		}
		if !errors.Is(err, embedded.ErrCorrupt) {
			t.Errorf("page %d: %v", page, err)
		}
		detected++
	}
	if detected == 0 {
		t.Error("no damage was detected")
	}
}

// bbolt alternates between its two meta pages, so an incomplete one is harmless.
func TestOneTornMetaPageIsHarmless(t *testing.T) {
	healthy := seed(t)
	for name, page := range map[string]int64{"first": 0, "second": 1} {
		t.Run(name, func(t *testing.T) {
			dir := clone(t, healthy)
			commitNothing(t, database(dir))
			overwrite(page*4096+16, make([]byte, 64))(t, database(dir))
			checkSeed(t, start(t, embedded.Config{DataDir: dir}).Client())
		})
	}
}

// commitNothing commits an empty transaction, so that both meta pages have the same content. A
// crash tears the page of a commit that the log does not rely on yet.
func commitNothing(t *testing.T, file string) {
	t.Helper()
	db, err := bolt.Open(file, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(func(*bolt.Tx) error { return nil }), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestDatabaseWithoutLog(t *testing.T) {
	dir := seed(t)
	if err := os.RemoveAll(filepath.Join(dir, "member", "wal")); err != nil {
		t.Fatal(err)
	}
	expectDamaged(t, dir)
}

func TestDatabaseOfAnotherServer(t *testing.T) {
	old, recent := seed(t), t.TempDir()
	server := start(t, embedded.Config{DataDir: recent})
	for range 500 {
		put(t, server.Client(), "/a", "1")
	}
	stop(t, server)
	if err := os.Rename(database(recent), database(old)); err != nil {
		t.Fatal(err)
	}
	expectDamaged(t, old)
}

// The first start may be killed at any time.
func TestUnfinishedFirstStart(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "member", "snap"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(database(dir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, start(t, embedded.Config{DataDir: dir}).Client(), "/a", "1")
}

func database(dir string) string { return filepath.Join(dir, "member", "snap", "db") }
