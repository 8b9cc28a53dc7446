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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// kitchen makes entries and bodies, and counts what it has to do for that.
type kitchen struct {
	decoder         *storage.Decoder
	decoded, cooked atomic.Int32
}

// newKitchen has a memo of so many bytes; 0: it has none.
func newKitchen(limit int64) *kitchen {
	k := &kitchen{decoder: &storage.Decoder{}}
	k.decoder.Decode = func(_ context.Context, key string, _ int64, _ []byte) (kruntime.Object, error) {
		k.decoded.Add(1)
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: key}}, nil
	}
	if limit > 0 {
		k.decoder = k.decoder.With(storage.NewMemo(limit))
	}
	return k
}

func (k *kitchen) entry(name string) *storage.Entry { return k.decoder.Entry(name, 1, []byte(name)) }

const bodySize = 1000

// body is the name of the entry again and again.
func (k *kitchen) body(t *testing.T, e *storage.Entry, form storage.Form) []byte {
	t.Helper()
	got, err := e.Body(t.Context(), form, func(obj kruntime.Object) ([]byte, error) {
		k.cooked.Add(1)
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

func TestBodiesAreMadeOncePerForm(t *testing.T) {
	k := newKitchen(1 << 20)
	entry := k.entry("a")
	first := k.body(t, entry, "json")
	if second := k.body(t, entry, "json"); &first[0] != &second[0] {
		t.Error("a body was made twice")
	}
	k.body(t, entry, "protobuf")
	if n := k.cooked.Load(); n != 2 {
		t.Errorf("two forms were made %d times", n)
	}
}

func TestWhoeverAsksMeanwhileWaits(t *testing.T) {
	k := newKitchen(1 << 20)
	entry := k.entry("a")
	var asking sync.WaitGroup
	for range 200 {
		asking.Go(func() { k.body(t, entry, "json") })
		asking.Go(func() {
			if _, err := entry.Object(); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	if n := k.cooked.Load(); n != 1 {
		t.Errorf("the body was made %d times", n)
	}
	if n := k.decoded.Load(); n > 2 { // once to be kept, perhaps once for the body
		t.Errorf("the object was decoded %d times", n)
	}
}

// An object that only a body needed is not kept; one that somebody asked for
// serves bodies too.
func TestObjectsOnTheWayToABodyAreNotKept(t *testing.T) {
	k := newKitchen(1 << 20)
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
		t.Errorf("decoded %d times although the object was there", n)
	}
}

func TestMemoIsBounded(t *testing.T) {
	k := newKitchen(10 * bodySize)
	var entries []*storage.Entry
	for i := range 100 {
		entries = append(entries, k.entry(fmt.Sprintf("%04d", i)))
		k.body(t, entries[i], "json")
		if stats := k.decoder.Memo.Stats(); stats.Bytes > 10*bodySize+1000 || stats.Bytes == 0 {
			t.Fatalf("%d bytes are held after %d bodies", stats.Bytes, i+1)
		}
	}
	held := k.body(t, entries[0], "json") // made again
	if n := k.cooked.Load(); n != 101 {
		t.Errorf("%d bodies were made", n)
	}
	for _, entry := range entries { // evicts what is held, which stays what it is
		k.body(t, entry, "json")
	}
	if want := strings.Repeat("0000", bodySize/4); string(held) != want {
		t.Error("a body changed after it was evicted")
	}
	if stats := k.decoder.Memo.Stats(); stats.Made-stats.Evicted > 10 {
		t.Errorf("%+v", stats)
	}
}

// What is used while others come and go stays.
func TestUsedBodiesAreSpared(t *testing.T) {
	k := newKitchen(10 * 1024)
	favourite := k.entry("f")
	first := k.body(t, favourite, "json")
	for i := range 100 {
		k.body(t, k.entry(fmt.Sprintf("%04d", i)), "json")
		if again := k.body(t, favourite, "json"); &again[0] != &first[0] {
			t.Fatalf("evicted after %d others", i+1)
		}
	}
}

func TestWhatIsTooLargeIsNotHeld(t *testing.T) {
	k := newKitchen(bodySize / 2)
	entry := k.entry("a")
	k.body(t, entry, "json")
	k.body(t, entry, "json")
	if stats := k.decoder.Memo.Stats(); stats.Bytes != 0 || stats.Made != 2 || stats.Evicted != 2 {
		t.Errorf("%+v", stats)
	}
}

// An entry that nobody shares is not to hold more than its object.
func TestWithoutAMemoBodiesAreNotKept(t *testing.T) {
	k := newKitchen(0)
	entry := k.entry("a")
	k.body(t, entry, "json")
	k.body(t, entry, "json")
	if n := k.cooked.Load(); n != 2 {
		t.Errorf("made %d times", n)
	}
}

func TestErrorsAreNotKept(t *testing.T) {
	k := newKitchen(1 << 20)
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

// Readers in a memo that is far too small, all at once: every body is the
// right one.
func TestMemoUnderConcurrency(t *testing.T) {
	k := newKitchen(5 * bodySize)
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

func TestHitsAllocateNothing(t *testing.T) {
	k := newKitchen(1 << 20)
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

// BenchmarkEntry shows what an entry costs by itself.
func BenchmarkEntry(b *testing.B) {
	k := newKitchen(0)
	b.ReportAllocs()
	var entry *storage.Entry
	for b.Loop() {
		entry = k.entry("a")
	}
	runtime.KeepAlive(entry)
}
