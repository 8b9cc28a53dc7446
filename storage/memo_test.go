package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// maker makes entries and bodies, and counts the decoded objects and the encoded bodies.
type maker struct {
	decoder          *storage.Decoder
	decoded, encoded atomic.Int32
}

// newMaker returns a maker with a memo of limit bytes, without a memo if limit is 0.
func newMaker(limit int64) *maker {
	k := &maker{decoder: &storage.Decoder{}}
	k.decoder.Decode = func(_ context.Context, key string, _ int64, _ []byte) (kruntime.Object, error) {
		k.decoded.Add(1)
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: key}}, nil
	}
	if limit > 0 {
		k.decoder = k.decoder.With(storage.NewMemo(limit))
	}
	return k
}

func (k *maker) entry(name string) *storage.Entry { return k.decoder.Entry(name, 1, []byte(name)) }

const bodySize = 1000

// body returns the body of an entry, which is its name repeated to bodySize bytes.
func (k *maker) body(t *testing.T, e *storage.Entry, form storage.Form) []byte {
	t.Helper()
	got, err := e.Body(t.Context(), form, func(obj kruntime.Object) ([]byte, error) {
		k.encoded.Add(1)
		name := obj.(*metav1.PartialObjectMetadata).Name
		return bytes.Repeat([]byte(name), bodySize/len(name)), nil
	})
	if err != nil {
		t.Error(err)
	}
	if want := strings.Repeat(e.Key, bodySize/len(e.Key)); string(got) != want {
		t.Errorf("the body of %s is %.10q of %d bytes", e.Key, got, len(got))
	}
	return got
}

func TestBodyIsMadeOncePerForm(t *testing.T) {
	k := newMaker(1 << 20)
	entry := k.entry("a")
	first := k.body(t, entry, "json")
	if second := k.body(t, entry, "json"); &first[0] != &second[0] {
		t.Error("a body was made twice")
	}
	k.body(t, entry, "protobuf")
	if n := k.encoded.Load(); n != 2 {
		t.Errorf("two forms were made %d times", n)
	}
}

func TestConcurrentReadersShareAValue(t *testing.T) {
	k := newMaker(1 << 20)
	entry := k.entry("a")
	var readers sync.WaitGroup
	for range 200 {
		readers.Go(func() { k.body(t, entry, "json") })
		readers.Go(func() {
			if _, err := entry.Object(); err != nil {
				t.Error(err)
			}
		})
	}
	readers.Wait()
	if n := k.encoded.Load(); n != 1 {
		t.Errorf("the body was made %d times", n)
	}
	if n := k.decoded.Load(); n > 2 { // once to be kept, perhaps once for the body
		t.Errorf("the object was decoded %d times", n)
	}
}

// An object that is only decoded for a body is not kept. An object that a caller has requested is
// kept and used for bodies.
func TestObjectDecodedForABodyIsNotKept(t *testing.T) {
	k := newMaker(1 << 20)
	entry := k.entry("a")
	k.body(t, entry, "json")
	k.body(t, entry, "protobuf")
	if n := k.decoded.Load(); n != 2 {
		t.Errorf("decoded %d times for two bodies", n)
	}
	if _, err := entry.Object(); err != nil {
		t.Fatal(err)
	}
	k.body(t, entry, "metadata")
	if n := k.decoded.Load(); n != 3 {
		t.Errorf("decoded %d times although the entry keeps the object", n)
	}
}

func TestMemoIsBounded(t *testing.T) {
	k := newMaker(10 * bodySize)
	var entries []*storage.Entry
	for i := range 100 {
		entries = append(entries, k.entry(fmt.Sprintf("%04d", i)))
		k.body(t, entries[i], "json")
		if stats := k.decoder.Memo.Stats(); stats.Bytes > 10*bodySize+1000 || stats.Bytes == 0 {
			t.Fatalf("%d bytes are held after %d bodies", stats.Bytes, i+1)
		}
	}
	held := k.body(t, entries[0], "json") // encoded again
	if n := k.encoded.Load(); n != 101 {
		t.Errorf("%d bodies were made", n)
	}
	for _, entry := range entries { // evicts the body that is held, without changing it
		k.body(t, entry, "json")
	}
	if want := strings.Repeat("0000", bodySize/4); string(held) != want {
		t.Error("a body changed after it was evicted")
	}
	if stats := k.decoder.Memo.Stats(); stats.Made-stats.Evicted > 10 {
		t.Errorf("%+v", stats)
	}
}

// A body that is used regularly is not evicted.
func TestUsedBodiesAreSpared(t *testing.T) {
	k := newMaker(10 * 1024)
	favourite := k.entry("f")
	first := k.body(t, favourite, "json")
	for i := range 100 {
		k.body(t, k.entry(fmt.Sprintf("%04d", i)), "json")
		if current := k.body(t, favourite, "json"); &current[0] != &first[0] {
			t.Fatalf("evicted after %d others", i+1)
		}
	}
}

// Updates of many objects do not displace the bodies of lists.
func TestObjectsDoNotEvictBodies(t *testing.T) {
	k := newMaker(20 * bodySize)
	var entries []*storage.Entry
	for i := range 10 {
		entries = append(entries, k.entry(fmt.Sprintf("%04d", i)))
		k.body(t, entries[i], "json")
	}
	for i := range 100 {
		if _, err := k.entry(fmt.Sprintf("%04d", 1000+i)).Object(); err != nil {
			t.Fatal(err)
		}
	}
	if stats := k.decoder.Memo.Stats(); stats.Bytes <= 10*bodySize || stats.Bytes > 15*bodySize {
		t.Errorf("%d bytes are held, want the bodies and at most a quarter of the limit", stats.Bytes)
	}
	for _, entry := range entries {
		k.body(t, entry, "json")
	}
	if n := k.encoded.Load(); n != 10 {
		t.Errorf("%d bodies were made for 10 entries", n)
	}
}

// A value without readers is evicted within 30 seconds, and a value in use is kept.
func TestUnusedValuesAreEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newMaker(1 << 20)
		go func() {
			if err := k.decoder.Memo.Run(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		used, unused := k.entry("a"), k.entry("b")
		first := k.body(t, used, "json")
		for range 2 {
			k.body(t, unused, "json")
			if _, err := unused.Object(); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				time.Sleep(12 * time.Second)
				synctest.Wait()
				if current := k.body(t, used, "json"); &current[0] != &first[0] {
					t.Error("a value in use was evicted")
				}
			}
			if stats := k.decoder.Memo.Stats(); stats.Bytes != int64(cap(first)) {
				t.Errorf("%d bytes are held, want %d", stats.Bytes, cap(first))
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if stats := k.decoder.Memo.Stats(); stats.Bytes != 0 || stats.Made != stats.Evicted {
			t.Errorf("without readers: %+v", stats)
		}
		k.body(t, used, "json") // after the memo was empty
		time.Sleep(30*time.Second - time.Nanosecond)
		synctest.Wait()
		if stats := k.decoder.Memo.Stats(); stats.Bytes == 0 {
			t.Error("a value was evicted before it was unused for 15 seconds")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if stats := k.decoder.Memo.Stats(); stats.Bytes != 0 {
			t.Errorf("after the memo was empty: %+v", stats)
		}
	})
}

func TestValueAboveTheLimitIsNotKept(t *testing.T) {
	k := newMaker(bodySize / 2)
	entry := k.entry("a")
	k.body(t, entry, "json")
	k.body(t, entry, "json")
	if stats := k.decoder.Memo.Stats(); stats.Bytes != 0 || stats.Made != 2 || stats.Evicted != 2 {
		t.Errorf("%+v", stats)
	}
}

// An entry with one reader keeps nothing except its object.
func TestWithoutAMemoBodiesAreNotKept(t *testing.T) {
	k := newMaker(0)
	entry := k.entry("a")
	k.body(t, entry, "json")
	k.body(t, entry, "json")
	if n := k.encoded.Load(); n != 2 {
		t.Errorf("made %d times", n)
	}
}

func TestErrorsAreNotKept(t *testing.T) {
	k := newMaker(1 << 20)
	entry := k.entry("a")
	broken := errors.New("broken")
	if _, err := entry.Body(t.Context(), "json", func(kruntime.Object) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	k.body(t, entry, "json")
	unreadable := storage.NewEntry("b", 1, func() (kruntime.Object, error) { return nil, storage.ErrCorrupt })
	if _, err := unreadable.Body(t.Context(), "json", nil); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
	if _, err := entry.Body(t.Context(), "", nil); err == nil {
		t.Error("a body without a form")
	}
}

// Concurrent readers of a memo that is far too small all get the right bodies.
func TestMemoUnderConcurrency(t *testing.T) {
	k := newMaker(5 * bodySize)
	var entries []*storage.Entry
	for i := range 20 {
		entries = append(entries, k.entry(fmt.Sprintf("%04d", i)))
	}
	var reading sync.WaitGroup
	for reader := range 4 * runtime.GOMAXPROCS(0) {
		reading.Go(func() {
			for i := range 500 {
				entry := entries[(i*7+reader)%len(entries)]
				k.body(t, entry, storage.Form([]string{"json", "protobuf"}[i%2]))
				if i%5 == 0 {
					if _, err := entry.Object(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	reading.Wait()
	if stats := k.decoder.Memo.Stats(); stats.Bytes > 5*bodySize+1000 {
		t.Errorf("%+v", stats)
	}
}

func TestHitDoesNotAllocate(t *testing.T) {
	k := newMaker(1 << 20)
	entry := k.entry("a")
	encode := func(kruntime.Object) ([]byte, error) { return []byte("{}"), nil }
	allocated := testing.AllocsPerRun(100, func() {
		if _, err := entry.Body(t.Context(), "json", encode); err != nil {
			t.Error(err)
		}
		if _, err := entry.Object(); err != nil {
			t.Error(err)
		}
	})
	if allocated > 0 {
		t.Errorf("%v allocations", allocated)
	}
}

// BenchmarkEntry measures the allocations of an entry.
func BenchmarkEntry(b *testing.B) {
	k := newMaker(0)
	b.ReportAllocs()
	var entry *storage.Entry
	for b.Loop() {
		entry = k.entry("a")
	}
	runtime.KeepAlive(entry)
}
