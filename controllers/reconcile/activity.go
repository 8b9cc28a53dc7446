package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/miniapi/miniapi/internal/broadcast"
)

// maxListedKeys is the maximum number of keys that Pending names.
const maxListedKeys = 5

// Activity is the work of the controllers of a server: the changes to handle and the keys to
// reconcile. The zero value is ready. Safe for concurrent use.
type Activity struct {
	changed broadcast.Broadcast

	mu      sync.Mutex // guards the fields below
	handled int64      // revision up to which the controllers have handled all changes
	queues  []*work
}

// Reset removes all work. No controller may run.
func (a *Activity) Reset() {
	a.mu.Lock()
	a.handled, a.queues = 0, nil
	a.mu.Unlock()
	a.changed.Notify()
}

// Lost records that changes were lost: the complete state must be handled before any revision
// counts as handled.
func (a *Activity) Lost() {
	a.mu.Lock()
	a.handled = 0
	a.mu.Unlock()
	a.changed.Notify()
}

// Handled records that the controllers have handled all changes up to a revision.
func (a *Activity) Handled(revision int64) {
	a.mu.Lock()
	a.handled = max(a.handled, revision)
	a.mu.Unlock()
	a.changed.Notify()
}

// AwaitHandled blocks until the controllers have handled all changes up to a revision. It returns
// the error of ctx.
func (a *Activity) AwaitHandled(ctx context.Context, revision int64) error {
	for {
		changed := a.changed.Changed()
		a.mu.Lock()
		handled := a.handled
		a.mu.Unlock()
		if handled >= revision {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Pending describes the work that is left after the changes up to a revision, one line for each
// queue. Keys that wait for a time are not work. changed is closed when the result may have
// changed.
func (a *Activity) Pending(revision int64) (pending []string, changed <-chan struct{}) {
	changed = a.changed.Changed()
	a.mu.Lock()
	handled, queues := a.handled, a.queues
	a.mu.Unlock()
	if handled < revision {
		pending = append(pending, fmt.Sprintf("the built-in controllers have handled the changes up to revision %d of %d", handled, revision))
	}
	for _, queue := range queues {
		if keys := queue.keys(); len(keys) > 0 {
			pending = append(pending, queue.queue+": "+strings.Join(keys, ", "))
		}
	}
	return pending, changed
}

func (a *Activity) add(queue *work) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queues = append(a.queues, queue)
}

// work is the set of the keys that a queue has to reconcile at present. A key is in the set from
// its addition until the end of a pass that began later.
type work struct {
	queue    string // name of the queue
	activity *Activity

	mu      sync.Mutex // guards the fields below
	pending map[string]uint64
	last    uint64 // number of the last addition
}

// add adds a key.
func (w *work) add(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	w.pending[key] = w.last
}

// begin returns the number of a pass over a key. A key that has waited for a time is added.
func (w *work) begin(key string) (pass uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pending[key] == 0 {
		w.last++
		w.pending[key] = w.last
	}
	return w.pending[key]
}

// end removes the key unless it was added during the pass.
func (w *work) end(key string, pass uint64) {
	w.mu.Lock()
	if w.pending[key] == pass {
		delete(w.pending, key)
	}
	w.mu.Unlock()
	w.activity.changed.Notify()
}

// keys returns the keys in order, and their number if they are too many.
func (w *work) keys() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	keys := slices.Sorted(maps.Keys(w.pending))
	for i, key := range keys {
		keys[i] = strings.TrimPrefix(key, "/")
	}
	if more := len(keys) - maxListedKeys; more > 0 {
		keys = append(keys[:maxListedKeys], fmt.Sprintf("and %d more", more))
	}
	return keys
}
