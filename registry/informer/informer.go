package informer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

const (
	// watchInterval is the pause before a lost watch is started again.
	watchInterval = 100 * time.Millisecond
	// RetryInterval is the pause before a change is handled again, see Informer.Retry. It is
	// longer than watchInterval because admission may reject a write for a long time.
	RetryInterval = time.Second
)

// Config configures an Informer.
type Config struct {
	// Resource to watch.
	Resource schema.GroupResource
	// Lookup returns the store of the resource. It is called for each watch and each Sync, so a
	// resource may be added to the catalog later, or replaced.
	Lookup func(schema.GroupResource) (*registry.Store, bool)
	// Selection limits the objects by its Namespace, Label and Field. The other fields are ignored.
	// With a selector, an object that cannot be decoded is not selected.
	Selection registry.ListRequest
	// Handle is called by Run, for one change at a time. Nil: the known set is only read.
	Handle func(ctx context.Context, change Change)
	// Logger reports lost watches. Nil discards them.
	Logger *slog.Logger
}

// Change is the difference between two states of an object.
type Change struct {
	// Key of the object in the storage.
	Key string
	// Old is the last known state, nil for a new object; New is the next one, nil for a deleted
	// object. Both are the same if Informer.Retry caused the call.
	Old, New *storage.Entry
	// listed is set if the change was found in a list, which may hide changes in between.
	listed bool
}

// Informer keeps a copy of the objects of a resource. Its methods, except Retry, are safe for
// concurrent use.
type Informer struct {
	config Config
	// used is closed by use, at the first Sync.
	used chan struct{}
	use  func()
	// wake makes Run process the queue.
	wake chan struct{}
	// retries are the keys to handle again when retry fires. Only Run uses both.
	retries []string
	retry   <-chan time.Time
	// generation changes only while mu is held.
	generation atomic.Uint64

	mu    sync.Mutex // guards the fields below
	state state
	queue queue
}

// New returns an informer. It starts nothing.
func New(config Config) *Informer {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	config.Selection = registry.ListRequest{
		Namespace: config.Selection.Namespace, Label: config.Selection.Label, Field: config.Selection.Field,
		IncludeCorrupt: true,
	}
	i := &Informer{config: config, used: make(chan struct{}), wake: make(chan struct{}, 1), queue: newQueue()}
	i.state.entries = map[string]*storage.Entry{}
	i.use = sync.OnceFunc(func() { close(i.used) })
	return i
}

// Run watches the resource until ctx ends, and returns nil then. The watch of an informer without
// Handle begins with the first Sync.
func (i *Informer) Run(ctx context.Context) error {
	if i.config.Handle == nil {
		select {
		case <-i.used:
		case <-ctx.Done():
			return nil
		}
	}
	ctx = registry.WithServerUser(ctx)
	for ctx.Err() == nil {
		err := i.watch(ctx)
		if ctx.Err() != nil {
			break
		}
		i.config.Logger.WarnContext(ctx, "informer: the watch is lost and starts again", "resource", i.config.Resource, "error", err)
		_ = i.process(ctx, nil, time.After(watchInterval))
	}
	return nil
}

var errWatchEnded = errors.New("the watch has ended")

// watch returns the error that ended the watch.
func (i *Informer) watch(ctx context.Context) error {
	store, err := i.store()
	if err != nil {
		return err
	}
	req := i.config.Selection
	req.SendInitialEvents = new(true)
	watcher, err := store.Watch(ctx, req)
	if err != nil {
		return err
	}
	defer watcher.Stop()
	page := &storage.Page{}
	for event := range watcher.Events() {
		switch {
		case event.Type == watch.Error:
			return event.Err
		case event.InitialEventsEnd:
			page.Revision = event.Revision
			i.merge(page)
			return i.process(ctx, watcher.Events(), nil)
		}
		page.Entries = append(page.Entries, event.Entry)
	}
	return errWatchEnded
}

// process applies events and calls Handle, until the events or ctx end or timeout fires.
func (i *Informer) process(ctx context.Context, events <-chan storage.Event, timeout <-chan time.Time) error {
	for {
		i.handleQueued(ctx)
		select {
		case event, ok := <-events:
			switch {
			case !ok:
				return errWatchEnded
			case event.Type == watch.Error:
				return event.Err
			}
			i.apply(event)
		case <-i.wake:
		case <-i.retry:
			i.queueRetries()
		case <-timeout:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (i *Informer) store() (registry.Reader, error) {
	store, ok := i.config.Lookup(i.config.Resource)
	if !ok {
		return nil, fmt.Errorf("this server has no %s", i.config.Resource)
	}
	return store, nil
}

// Sync blocks until the known set includes every write that was acknowledged before the call, and
// Handle has returned for all changes up to then. It reads a list, which costs the current revision
// of the store if the resource has not changed since the last Sync. It does not depend on the
// watch. The error is the error of the list or of ctx.
func (i *Informer) Sync(ctx context.Context) error {
	i.use()
	store, err := i.store()
	if err != nil {
		return err
	}
	req := i.config.Selection
	i.mu.Lock()
	req.KnownRevision = i.state.listed
	i.mu.Unlock()
	page, err := store.List(ctx, req)
	if err != nil {
		return err
	}
	queued := i.merge(page)
	select {
	case i.wake <- struct{}{}:
	default: // Run will process the queue
	}
	return i.awaitHandled(ctx, queued)
}

// Generation returns a number that changes whenever the known set does.
func (i *Informer) Generation() uint64 { return i.generation.Load() }

// List returns the known set in the order of keys, and its generation.
func (i *Informer) List() ([]*storage.Entry, uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.state.list(), i.generation.Load()
}

// Runner is an Informer or a type that runs one.
type Runner interface {
	Run(ctx context.Context) error
}

// RunAll runs all of them until ctx ends, and returns the first error.
func RunAll(ctx context.Context, runners ...Runner) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, r := range runners {
		group.Go(func() error { return r.Run(ctx) })
	}
	return group.Wait()
}
