package traffic

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage/storagetest/model"
)

// Watcher is a watch that is resumed whenever it ends.
type Watcher struct {
	name      string
	selection model.Selection
	resource  resource
	recorder  *Recorder
	random    *rand.Rand
	// slow is the maximum time between two reads of events, until hurry is set.
	slow  time.Duration
	hurry atomic.Bool
	// position is the revision up to which the watch is complete. 0: it starts again.
	position atomic.Int64

	mu       sync.Mutex // guards sessions
	sessions []model.Session
}

// run watches until ctx ends.
func (w *Watcher) run(ctx context.Context) {
	for ctx.Err() == nil {
		if w.position.Load() == 0 && w.random.IntN(2) == 0 {
			w.list(ctx)
		}
		w.session(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(retryEvery):
		}
	}
}

// Position returns the revision up to which the watch has received all events that it has to
// receive, as far as the watch can tell.
func (w *Watcher) Position() int64 { return w.position.Load() }

// Recorded returns all sessions. If until is not 0, all events up to it must have arrived.
func (w *Watcher) Recorded(until int64) model.Watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	return model.Watch{Name: w.name, Selection: w.selection, Sessions: w.sessions, Until: until}
}

// Selection returns the objects that the watch selects.
func (w *Watcher) Selection() model.Selection { return w.selection }

// options select the objects of the watch.
func (w *Watcher) options() metav1.ListOptions {
	var opts metav1.ListOptions
	if w.selection.Colour != "" {
		opts.LabelSelector = colour + "=" + w.selection.Colour
	}
	if name := w.selection.Scope[len(scope(w.resource)):]; name != "" {
		opts.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
	}
	return opts
}

// list sets the position to the revision of a list.
func (w *Watcher) list(ctx context.Context) {
	recorded := model.List{Selection: w.selection}
	recorded.Call = w.recorder.Tick()
	p, err := w.resource.list(ctx, w.options())
	if err != nil {
		return
	}
	recorded.Revision, recorded.Versions = p.revision, versions(w.resource, p.objects)
	w.recorder.List(recorded)
	w.position.Store(p.revision)
}

// session watches once, from the position or with the initial state.
func (w *Watcher) session(ctx context.Context) {
	seconds := 2 + w.random.Int64N(20)
	opts := w.options()
	opts.AllowWatchBookmarks, opts.TimeoutSeconds = true, &seconds
	s := model.Session{From: w.position.Load()}
	if s.From == 0 {
		s.Initial = true
		opts.SendInitialEvents, opts.ResourceVersionMatch = &s.Initial, metav1.ResourceVersionMatchNotOlderThan
	} else {
		opts.ResourceVersion = strconv.FormatInt(s.From, 10)
	}
	watching, err := w.resource.watch(ctx, opts)
	if err != nil {
		w.expire(err)
		return
	}
	defer watching.Stop()
	w.mu.Lock()
	w.sessions = append(w.sessions, s)
	w.mu.Unlock()
	live := !s.Initial
	for e := range watching.ResultChan() {
		if e.Type == watch.Error {
			w.expire(apierrors.FromObject(e.Object))
			return
		}
		event, err := w.event(e)
		if err != nil {
			w.recorder.Fault(fmt.Errorf("watch %s: %w", w.name, err))
			return
		}
		w.record(event)
		live = live || event.InitialEnd
		if live {
			w.position.Store(event.Revision)
		}
		if w.slow > 0 && !w.hurry.Load() {
			time.Sleep(time.Duration(w.random.Int64N(int64(w.slow))))
		}
	}
}

// expire lets the watch start again if its position was compacted. Every other error leaves the
// position, also if the resource is not served at the moment.
func (w *Watcher) expire(err error) {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		w.position.Store(0)
	}
}

// record appends an event to the last session.
func (w *Watcher) record(e model.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.sessions[len(w.sessions)-1]
	s.Events = append(s.Events, e)
}

func (w *Watcher) event(e watch.Event) (model.Event, error) {
	if e.Type == watch.Bookmark {
		m, err := meta(e.Object)
		if err != nil {
			return model.Event{}, err
		}
		revision, err := strconv.ParseInt(m.GetResourceVersion(), 10, 64)
		_, initial := m.GetAnnotations()[metav1.InitialEventsAnnotationKey]
		return model.Event{Type: model.Bookmark, Revision: revision, InitialEnd: initial}, err
	}
	o, err := fromRuntime(e.Object)
	return model.Event{Type: model.EventType(e.Type), Key: key(w.resource, o.Name), Revision: o.Revision, Object: o.Model()}, err
}
