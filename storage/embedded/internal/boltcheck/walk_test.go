package boltcheck_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"github.com/miniapi/miniapi/storage/embedded/internal/boltcheck"
)

const pageSize = 4096

func TestWalkVisitsAllKeys(t *testing.T) {
	for name, options := range map[string]bolt.Options{
		"with a free list":    {PageSize: pageSize},
		"without a free list": {PageSize: pageSize, NoFreelistSync: true},
		"small pages":         {PageSize: 1024},
		"large pages":         {PageSize: 64 << 10, NoFreelistSync: true},
	} {
		t.Run(name, func(t *testing.T) {
			path, want := database(t, options)
			data := read(t, path)
			got := map[string]string{}
			err := walk(t, data, func(bucket string, key, value []byte) error {
				got[bucket+"/"+string(key)] = string(value)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWalkFindsDamage(t *testing.T) {
	path, _ := database(t, bolt.Options{PageSize: pageSize})
	healthy := read(t, path)
	branch, leaf, freelist := find(t, healthy, 0x01), find(t, healthy, 0x02), find(t, healthy, 0x10)
	order := binary.NativeEndian
	for name, tc := range map[string]struct {
		damage func(data []byte) []byte
		want   string
	}{
		"empty":                      {func([]byte) []byte { return nil }, "neither of the two meta pages is valid"},
		"one page only":              {func(b []byte) []byte { return b[:pageSize] }, "meta page 1: unexpected EOF"},
		"truncated":                  {func(b []byte) []byte { return b[:len(b)/2] }, "truncated: "},
		"page number":                {set16(leaf, 0, 1), fmt.Sprintf("page %d: contains the page number 1", leaf)},
		"page type":                  {set16(leaf, 8, 0x20), fmt.Sprintf("page %d: has type 0x20, neither branch nor leaf", leaf)},
		"too many elements":          {set16(leaf, 10, 0xFFFF), fmt.Sprintf("page %d: element", leaf)},
		"overflow too large":         {set16(leaf, 12, 0xFFFF), fmt.Sprintf("page %d: overflows to page", leaf)},
		"overflow over another page": {set16(leaf, 12, 1), "in use twice"},
		"element flags":              {set16(leaf, 16, 6), fmt.Sprintf("page %d: element 0 has flags 0x6", leaf)},
		"value too large": {func(b []byte) []byte {
			order.PutUint32(b[leaf*pageSize+16+12:], 1<<30)
			return b
		}, fmt.Sprintf("page %d: element 0 ends outside the page", leaf)},
		"keys out of order":              {swapElements(leaf), fmt.Sprintf("page %d: keys 0 and 1 are out of order", leaf)},
		"no children":                    {set16(branch, 10, 0), fmt.Sprintf("page %d: is a branch without children", branch)},
		"child beyond the file":          {set16(branch, 16+8, 0xFFFF), "page 65535: the file has only"},
		"child is the parent":            {set16(branch, 16+8, uint16(branch)), "in use twice"},
		"free page beyond the file":      {set16(freelist, 16, 0xFFFF), "free page 65535 of"},
		"free page in use":               {set16(freelist, 16, uint16(leaf)), "in use twice"},
		"free list too long":             {set16(freelist, 10, 0xFFFE), "a free list of 65534 pages does not fit"},
		"free list of another page type": {set16(freelist, 8, 0x02), "has type 0x2, not a free list"},
	} {
		t.Run(name, func(t *testing.T) {
			err := walk(t, tc.damage(bytes.Clone(healthy)), ignore)
			if err == nil || !bytes.Contains([]byte(err.Error()), []byte(tc.want)) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestWalkEndsWithErrorOfVisitorAndContext(t *testing.T) {
	path, _ := database(t, bolt.Options{PageSize: pageSize})
	data := read(t, path)
	enough := errors.New("enough")
	if err := walk(t, data, func(string, []byte, []byte) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("error %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := boltcheck.Walk(ended, bytes.NewReader(data), int64(len(data)), ignore)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func FuzzWalk(f *testing.F) {
	path, _ := databaseOf(f, bolt.Options{PageSize: 1024}, 2)
	data := read(f, path)
	f.Add(uint32(0), []byte{0})
	f.Add(uint32(5000), []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, at uint32, patch []byte) {
		place := data[int(at)%len(data):]
		healthy := bytes.Clone(place[:min(len(place), len(patch))])
		copy(place, patch)
		// It must return, with or without an error.
		_ = walk(t, data, ignore)
		copy(place, healthy)
	})
}

func ignore(string, []byte, []byte) error { return nil }

func walk(t testing.TB, data []byte, visit boltcheck.Visit) error {
	t.Helper()
	return boltcheck.Walk(t.Context(), bytes.NewReader(data), int64(len(data)), visit)
}

func set16(page, offset int, value uint16) func([]byte) []byte {
	return func(data []byte) []byte {
		binary.NativeEndian.PutUint16(data[page*pageSize+offset:], value)
		return data
	}
}

// swapElements swaps the first two elements of a leaf. The offsets of their keys are relative to
// the elements.
func swapElements(page int) func([]byte) []byte {
	return func(data []byte) []byte {
		const first, size, pos = 16, 16, 4
		head, order := data[page*pageSize+first:], binary.NativeEndian
		swapped := append(bytes.Clone(head[size:2*size]), head[:size]...)
		order.PutUint32(swapped[pos:], order.Uint32(swapped[pos:])+size)
		order.PutUint32(swapped[size+pos:], order.Uint32(swapped[size+pos:])-size)
		copy(head, swapped)
		return data
	}
}

// find returns the last page of a type that the tree or the free list reaches, so that Walk
// detects its damage.
func find(t *testing.T, data []byte, kind uint16) int {
	t.Helper()
	for page := len(data)/pageSize - 1; page > 1; page-- {
		head := data[page*pageSize:]
		if binary.NativeEndian.Uint64(head) != uint64(page) || binary.NativeEndian.Uint16(head[8:]) != kind {
			continue
		}
		if kind == 0x02 && binary.NativeEndian.Uint32(head[16:]) != 0 {
			continue // its elements are buckets
		}
		broken := bytes.Clone(data)
		binary.NativeEndian.PutUint64(broken[page*pageSize:], 0)
		if walk(t, broken, ignore) != nil {
			return page
		}
	}
	t.Fatalf("no page of kind %#x", kind)
	return 0
}

// database creates a file with all types of pages: large, small and empty buckets, values over
// several pages, free pages. It returns the content by bucket and key.
func database(t testing.TB, options bolt.Options) (string, map[string]string) {
	t.Helper()
	return databaseOf(t, options, 30)
}

// databaseOf is database with a number of transactions.
func databaseOf(t testing.TB, options bolt.Options, transactions int) (string, map[string]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	options.NoSync = true
	db, err := bolt.Open(path, 0o600, &options)
	if err != nil {
		t.Fatal(err)
	}
	random, content := rand.New(rand.NewPCG(3, 4)), map[string]string{}
	for range transactions {
		if err := db.Update(func(tx *bolt.Tx) error { return writeRandomly(tx, random, content) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path, content
}

func writeRandomly(tx *bolt.Tx, random *rand.Rand, content map[string]string) error {
	for _, name := range []string{"empty", "small", "large"} {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	for range 60 {
		name, key, size := "large", fmt.Sprint(random.IntN(1000)), random.IntN(300)
		if random.IntN(20) == 0 {
			size = random.IntN(3 * pageSize)
		}
		if random.IntN(20) == 0 {
			name, key, size = "small", fmt.Sprint(random.IntN(3)), random.IntN(20)
		}
		if err := tx.Bucket([]byte(name)).Put([]byte(key), bytes.Repeat([]byte{'v'}, size)); err != nil {
			return err
		}
		content[name+"/"+key] = string(bytes.Repeat([]byte{'v'}, size))
		deleted := fmt.Sprint(random.IntN(1000))
		if err := tx.Bucket([]byte("large")).Delete([]byte(deleted)); err != nil {
			return err
		}
		delete(content, "large/"+deleted)
	}
	return nil
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
