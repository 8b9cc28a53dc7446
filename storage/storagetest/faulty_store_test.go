package storagetest

import (
	"context"
	"errors"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

// tampering is a store whose watches deliver modified events.
type tampering struct {
	storage.Interface
	// begin returns the function that maps the events of one watch: it returns the events to
	// deliver for the nth event. Bookmarks of progress are neither mapped nor counted.
	begin func(opts storage.WatchOptions) func(n int, e storage.Event) []storage.Event
}

func (f tampering) Watch(ctx context.Context, key string, opts storage.WatchOptions) (storage.Watcher, error) {
	inner, err := f.Interface.Watch(ctx, key, opts)
	if err != nil {
		return nil, err
	}
	w := &tampered{inner: inner, events: make(chan storage.Event), stopped: make(chan struct{})}
	w.running.Go(func() { w.run(f.begin(opts)) })
	return w, nil
}

type tampered struct {
	inner   storage.Watcher
	events  chan storage.Event
	stop    sync.Once
	stopped chan struct{}
	running sync.WaitGroup
}

func (w *tampered) Events() <-chan storage.Event { return w.events }

func (w *tampered) Progress() storage.WatchProgress { return w.inner.Progress() }

func (w *tampered) Stop() {
	w.stop.Do(func() { close(w.stopped) })
	w.inner.Stop()
	w.running.Wait()
}

func (w *tampered) run(tamper func(n int, e storage.Event) []storage.Event) {
	defer close(w.events)
	n := 0
	for e := range w.inner.Events() {
		deliver := []storage.Event{e}
		if e.Type != watch.Bookmark || e.InitialEventsEnd {
			n++
			deliver = tamper(n, e)
		}
		for _, e := range deliver {
			select {
			case w.events <- e:
			case <-w.stopped:
				return
			}
		}
	}
}

// always returns a tampering that applies the same function to every watch.
func always(tamper func(n int, e storage.Event) []storage.Event) func(storage.Interface) storage.Interface {
	return func(s storage.Interface) storage.Interface {
		return tampering{s, func(storage.WatchOptions) func(int, storage.Event) []storage.Event { return tamper }}
	}
}

func only(e storage.Event) []storage.Event { return []storage.Event{e} }

func dropEvent(n int, e storage.Event) []storage.Event {
	if n == 5 {
		return nil
	}
	return only(e)
}

func repeatEvent(n int, e storage.Event) []storage.Event {
	if n == 5 {
		return []storage.Event{e, e}
	}
	return only(e)
}

func swapEvents(s storage.Interface) storage.Interface {
	return tampering{s, func(storage.WatchOptions) func(int, storage.Event) []storage.Event {
		var held storage.Event
		return func(n int, e storage.Event) []storage.Event {
			switch n {
			case 5:
				held = e
				return nil
			case 6:
				return []storage.Event{e, held}
			default:
				return only(e)
			}
		}
	}}
}

func earlyBookmarks(n int, e storage.Event) []storage.Event {
	return []storage.Event{{Type: watch.Bookmark, Revision: e.Revision}, e}
}

func wrongEventType(_ int, e storage.Event) []storage.Event {
	if e.Type == watch.Modified {
		e.Type = watch.Added
	}
	return only(e)
}

// dropsInitialEvent drops the first initial event of a watch. The first event of a watch on no
// objects is the bookmark at the end of its initial events, which remains.
func dropsInitialEvent(s storage.Interface) storage.Interface {
	return tampering{s, func(opts storage.WatchOptions) func(int, storage.Event) []storage.Event {
		return func(n int, e storage.Event) []storage.Event {
			initial := opts.ResourceVersion == "" || opts.SendInitialEvents != nil
			if n == 1 && initial && !e.InitialEventsEnd {
				return nil
			}
			return only(e)
		}
	}}
}

// resumesLate drops the first event of a watch that starts at the last revision delivered by
// another watch.
func resumesLate(s storage.Interface) storage.Interface {
	var mu sync.Mutex
	delivered := map[string]bool{}
	return tampering{s, func(opts storage.WatchOptions) func(int, storage.Event) []storage.Event {
		mu.Lock()
		defer mu.Unlock()
		resumed := delivered[opts.ResourceVersion]
		return func(n int, e storage.Event) []storage.Event {
			if n == 1 && resumed {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			delivered[version(e.Revision)] = true
			return only(e)
		}
	}}
}

// lostUpdates writes a proposal even if the object has changed since.
type lostUpdates struct{ storage.Interface }

func (f lostUpdates) GuaranteedUpdate(ctx context.Context, key string, propose storage.ProposeFunc, opts storage.UpdateOptions) (*storage.UpdateResult, error) {
	current, err := f.Get(ctx, key, storage.GetOptions{})
	if err != nil {
		return f.Interface.GuaranteedUpdate(ctx, key, propose, opts)
	}
	proposal, err := propose(ctx, current)
	if err != nil || proposal.Delete {
		return f.Interface.GuaranteedUpdate(ctx, key, propose, opts)
	}
	return f.Interface.GuaranteedUpdate(ctx, key, func(context.Context, *storage.Entry) (storage.Proposal, error) {
		again := proposal
		again.Object = proposal.Object.DeepCopyObject()
		return again, nil
	}, opts)
}

// unwrittenCreates acknowledges creates without writing.
type unwrittenCreates struct{ storage.Interface }

func (f unwrittenCreates) Create(ctx context.Context, key string, obj runtime.Object, opts storage.CreateOptions) (*storage.Entry, error) {
	opts.DryRun = true
	entry, err := f.Interface.Create(ctx, key, obj, opts)
	if err != nil {
		return nil, err
	}
	return storage.NewEntry(key, 1, entry.Object), nil
}

// duplicateWrites makes an additional update.
type duplicateWrites struct{ storage.Interface }

func (f duplicateWrites) Create(ctx context.Context, key string, obj runtime.Object, opts storage.CreateOptions) (*storage.Entry, error) {
	entry, err := f.Interface.Create(ctx, key, obj, opts)
	if err == nil {
		_, _ = f.Delete(ctx, key, storage.DeleteOptions{})
	}
	return entry, err
}

// staleReads answers every second read of a key with the previous answer.
type staleReads struct {
	storage.Interface
	mu   *sync.Mutex
	read map[string]*storage.Entry
}

func (f staleReads) Get(ctx context.Context, key string, opts storage.GetOptions) (*storage.Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if old := f.read[key]; old != nil {
		delete(f.read, key)
		return old, nil
	}
	entry, err := f.Interface.Get(ctx, key, opts)
	f.read[key] = entry
	return entry, err
}

// wrongListRevision returns lists with an older revision.
type wrongListRevision struct{ storage.Interface }

func (f wrongListRevision) GetList(ctx context.Context, key string, opts storage.ListOptions) (*storage.Page, error) {
	page, err := f.Interface.GetList(ctx, key, opts)
	if err == nil && opts.ResourceVersion == "" && opts.Limit == 0 {
		page.Revision -= 20
	}
	return page, err
}

// inconsistentPages reads every page at the latest revision.
type inconsistentPages struct{ storage.Interface }

func (f inconsistentPages) GetList(ctx context.Context, key string, opts storage.ListOptions) (*storage.Page, error) {
	if opts.Continue != "" {
		from, _, err := storage.DecodeContinue(opts.Continue, key)
		if err != nil {
			return nil, err
		}
		if opts.Continue, err = storage.EncodeContinue(from[:len(from)-1], key, -1); err != nil {
			return nil, err
		}
	}
	return f.Interface.GetList(ctx, key, opts)
}

// wrongCompaction reports every old revision as compacted.
type wrongCompaction struct{ storage.Interface }

func (f wrongCompaction) GetList(ctx context.Context, key string, opts storage.ListOptions) (*storage.Page, error) {
	if opts.ResourceVersionMatch == metav1.ResourceVersionMatchExact {
		return nil, &storage.KeyError{Op: "list", Key: key, Err: errors.Join(storage.ErrCompacted)}
	}
	return f.Interface.GetList(ctx, key, opts)
}
