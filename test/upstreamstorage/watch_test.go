package upstreamstorage

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	upstream "k8s.io/apiserver/pkg/storage"

	"github.com/miniapi/miniapi/storage"
)

// watch translates the events of a storage.Watcher to events of upstream.
type watch struct {
	source storage.Watcher
	// bookmarks is set if the client requested bookmarks, initialEventsEnd if it requested one at
	// the end of the initial events.
	bookmarks, initialEventsEnd bool

	result chan apiwatch.Event // buffered: events in the buffer are received after Stop
	stop   chan struct{}
	once   sync.Once

	prefix    string // of the keys
	mu        sync.Mutex
	delivered sync.Cond // signals the fields below, which mu guards
	revision  int64     // of the last event
	ended     bool
}

func (a *adapter) Watch(ctx context.Context, key string, opts upstream.ListOptions) (apiwatch.Interface, error) {
	source, err := a.store.Watch(ctx, key, storage.WatchOptions{
		Recursive:         opts.Recursive,
		Predicate:         predicate(opts.Predicate),
		ResourceVersion:   opts.ResourceVersion,
		SendInitialEvents: opts.SendInitialEvents,
		ProgressNotify:    opts.ProgressNotify || opts.Predicate.AllowWatchBookmarks,
	})
	if err != nil {
		return nil, a.translate(key, err)
	}
	w := &watch{
		source:           source,
		bookmarks:        opts.ProgressNotify || opts.Predicate.AllowWatchBookmarks,
		initialEventsEnd: opts.SendInitialEvents != nil && *opts.SendInitialEvents,
		result:           make(chan apiwatch.Event, 100),
		stop:             make(chan struct{}),
		prefix:           strings.TrimSuffix(key, "/") + "/",
	}
	w.delivered.L = &w.mu
	go w.run() // ends with source, which Stop stops
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watches = append(a.watches, w)
	return w, nil
}

// stopWatches ends the watches that the suite leaves open.
func (a *adapter) stopWatches() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.watches {
		w.Stop()
	}
}

func (w *watch) ResultChan() <-chan apiwatch.Event { return w.result }

func (w *watch) Stop() {
	w.once.Do(func() { close(w.stop) })
	w.source.Stop()
}

func (w *watch) run() {
	defer close(w.result)
	defer w.advance(0, true)
	for event := range w.source.Events() {
		if out, ok := w.translate(event); ok {
			select {
			case w.result <- out:
			case <-w.stop:
				return
			}
		}
		w.advance(event.Revision, false)
	}
}

func (w *watch) advance(revision int64, ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revision, w.ended = max(w.revision, revision), ended
	w.delivered.Broadcast()
}

// await waits until the watch has delivered an event of a revision or a later one, or has ended.
func (w *watch) await(revision int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.revision < revision && !w.ended {
		w.delivered.Wait()
	}
}

// awaitDelivery waits until all watches of a key have delivered the event of a write.
func (a *adapter) awaitDelivery(key string, revision int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.watches {
		if strings.HasPrefix(key, w.prefix) {
			w.await(revision)
		}
	}
}

// translate converts an event. It returns false for a bookmark that the client did not request.
func (w *watch) translate(event storage.Event) (apiwatch.Event, bool) {
	switch event.Type {
	case apiwatch.Error:
		return apiwatch.Event{Type: apiwatch.Error, Object: eventStatus(event.Err)}, true
	case apiwatch.Bookmark:
		pod := &example.Pod{}
		pod.ResourceVersion = strconv.FormatInt(event.Revision, 10)
		if event.InitialEventsEnd {
			pod.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		}
		return apiwatch.Event{Type: apiwatch.Bookmark, Object: pod}, w.bookmarks && (w.initialEventsEnd || !event.InitialEventsEnd)
	}
	obj, err := event.Entry.Object()
	if err != nil {
		return apiwatch.Event{Type: apiwatch.Error, Object: eventStatus(err)}, true
	}
	return apiwatch.Event{Type: event.Type, Object: obj.DeepCopyObject()}, true
}

func eventStatus(err error) runtime.Object {
	var status *apierrors.StatusError
	var deleted *storage.CorruptDeletedError
	switch {
	case errors.As(err, &deleted):
		status = apierrors.NewInternalError(err)
		status.ErrStatus.Reason = metav1.StatusReasonStoreReadError
	case errors.Is(err, storage.ErrCompacted):
		status = apierrors.NewResourceExpired("The resourceVersion for the provided watch is too old.")
	default:
		status = apierrors.NewInternalError(err)
	}
	return &status.ErrStatus
}
