package registrytest

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/storage"
)

// Frozen returns a wrapper of a storage. The test fails at its end if an object of the storage
// was modified: entries may be shared.
func Frozen(t testing.TB) func(storage.Interface, schema.GroupResource) storage.Interface {
	seen := &observed{}
	t.Cleanup(func() { seen.check(t) })
	return func(s storage.Interface, _ schema.GroupResource) storage.Interface {
		return &frozen{Interface: s, seen: seen}
	}
}

// observed holds the entries of all results, and copies of their objects.
type observed struct {
	mu     sync.Mutex // guards copies
	copies map[*storage.Entry]runtime.Object
}

func (o *observed) add(ctx context.Context, entries ...*storage.Entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, entry := range entries {
		if entry == nil || o.copies[entry] != nil {
			continue
		}
		obj, err := entry.ObjectContext(ctx)
		if err != nil {
			continue // reported by Object to the test
		}
		if o.copies == nil {
			o.copies = map[*storage.Entry]runtime.Object{}
		}
		o.copies[entry] = obj.DeepCopyObject()
	}
}

func (o *observed) check(t testing.TB) {
	for entry, want := range o.copies {
		obj, _ := entry.Object()
		if diff := cmp.Diff(want, obj); diff != "" {
			t.Errorf("%s of revision %d was modified (-before +after):\n%s", entry.Key, entry.Revision, diff)
		}
	}
}

// frozen records all entries that the storage shares with the registry.
type frozen struct {
	storage.Interface
	seen *observed
}

func (f *frozen) Create(ctx context.Context, key string, obj runtime.Object, opts storage.CreateOptions) (*storage.Entry, error) {
	entry, err := f.Interface.Create(ctx, key, obj, opts)
	f.seen.add(ctx, entry)
	return entry, err
}

func (f *frozen) Get(ctx context.Context, key string, opts storage.GetOptions) (*storage.Entry, error) {
	entry, err := f.Interface.Get(ctx, key, opts)
	f.seen.add(ctx, entry)
	return entry, err
}

func (f *frozen) GetList(ctx context.Context, key string, opts storage.ListOptions) (*storage.Page, error) {
	page, err := f.Interface.GetList(ctx, key, opts)
	if page != nil {
		f.seen.add(ctx, page.Entries...)
	}
	return page, err
}

func (f *frozen) GuaranteedUpdate(ctx context.Context, key string, propose storage.ProposeFunc, opts storage.UpdateOptions) (*storage.UpdateResult, error) {
	result, err := f.Interface.GuaranteedUpdate(ctx, key, func(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
		f.seen.add(ctx, current)
		return propose(ctx, current)
	}, opts)
	if result != nil {
		f.seen.add(ctx, result.Entry)
	}
	return result, err
}

func (f *frozen) Delete(ctx context.Context, key string, opts storage.DeleteOptions) (*storage.Entry, error) {
	entry, err := f.Interface.Delete(ctx, key, opts)
	f.seen.add(ctx, entry)
	return entry, err
}
