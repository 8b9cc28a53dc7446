package journal

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// Write is a write that changed a key.
type Write struct {
	// Revision is the revision of the write, Base the revision that the key had before, 0 if it was
	// absent.
	Revision, Base int64
	// Key is the key without the prefix of the store.
	Key      string
	Resource schema.GroupResource
	Outcome  storage.Outcome
	Time     time.Time
	// User is the name of the user, "" for a write of the server itself.
	User string
	// Origin is the request. Its fields are empty for a write of the server itself.
	registry.Origin
}

// Writer identifies the client of a write.
type Writer struct{ User, UserAgent, FieldManager string }

// Writer returns the client of the write.
func (w *Write) Writer() Writer { return Writer{w.User, w.UserAgent, w.FieldManager} }

// WriterFrom returns the client of the request with this context.
func WriterFrom(ctx context.Context) Writer {
	var w Writer
	if user := registry.UserFrom(ctx); user != nil {
		w.User = user.Username
	}
	if origin := registry.OriginFrom(ctx); origin != nil {
		w.UserAgent, w.FieldManager = origin.UserAgent, origin.FieldManager
	}
	return w
}

// Config configures a Journal.
type Config struct {
	// MaxWrites and MaxBytes limit the writes that are kept. Default: 8192 and 4 MiB.
	MaxWrites, MaxBytes int
	// Observe is called with each write, in the goroutine of the write. Nil: no observer.
	Observe func(*Write)
}

const (
	defaultMaxWrites = 8192
	defaultMaxBytes  = 4 << 20
	// awaitTimeout limits the time that Await waits for writes in progress.
	awaitTimeout = time.Second
)

// Journal records writes. Safe for concurrent use.
type Journal struct {
	config Config
	now    func() time.Time

	mu sync.Mutex // guards the fields below
	// writes is a ring of the last writes, in the order in which they were recorded; oldest is the
	// index of the first one once the ring is full.
	writes []*Write
	oldest int
	kept   int // number of writes in the ring
	bytes  int
	// pending counts the writes in progress by key.
	pending map[string]int
	// ended is closed when a write ends. Nil if nothing waits.
	ended chan struct{}
}

// New returns an empty journal. It starts nothing.
func New(config Config) *Journal {
	if config.MaxWrites <= 0 {
		config.MaxWrites = defaultMaxWrites
	}
	if config.MaxBytes <= 0 {
		config.MaxBytes = defaultMaxBytes
	}
	return &Journal{config: config, now: time.Now, pending: map[string]int{}}
}

// begin announces a write of a key. The caller must call end.
func (j *Journal) begin(key string) {
	j.mu.Lock()
	j.pending[key]++
	j.mu.Unlock()
}

// end records a write, nil if nothing was written, and withdraws the announcement of begin.
func (j *Journal) end(key string, w *Write) {
	if w != nil && j.config.Observe != nil {
		j.config.Observe(w)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if w != nil {
		j.add(w)
	}
	if j.pending[key]--; j.pending[key] == 0 {
		delete(j.pending, key)
	}
	if j.ended != nil {
		close(j.ended)
		j.ended = nil
	}
}

// Await blocks until the journal has every write of this server that changed the key up to a
// revision. A write is recorded after its commit, so another request can see its effect earlier. A
// revision that another server wrote is not awaited longer than awaitTimeout.
func (j *Journal) Await(ctx context.Context, key string, revision int64) {
	ctx, cancel := context.WithTimeout(ctx, awaitTimeout)
	defer cancel()
	for {
		j.mu.Lock()
		if j.pending[key] == 0 || j.has(key, revision) {
			j.mu.Unlock()
			return
		}
		if j.ended == nil {
			j.ended = make(chan struct{})
		}
		ended := j.ended
		j.mu.Unlock()
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}

// After returns the writes after a revision that the journal has, in the order of revisions.
func (j *Journal) After(revision int64) []*Write {
	return j.find(func(w *Write) bool { return w.Revision > revision })
}

// Last returns the last write that was recorded, nil if there is none.
func (j *Journal) Last() *Write {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.kept == 0 {
		return nil
	}
	return j.writes[(j.oldest+j.kept-1)%len(j.writes)]
}

// Writes returns the writes of a key that the journal has, in the order of revisions.
func (j *Journal) Writes(key string) []*Write {
	return j.find(func(w *Write) bool { return w.Key == key })
}

// At returns the writes of a key that made the given revisions, those that the journal has.
func (j *Journal) At(key string, revisions []int64) []*Write {
	j.mu.Lock()
	defer j.mu.Unlock()
	found := make([]*Write, 0, len(revisions))
	for w := range j.latest {
		if len(found) == len(revisions) {
			break
		}
		if w.Key == key && slices.Contains(revisions, w.Revision) {
			found = append(found, w)
		}
	}
	return found
}

// find returns the writes for which a function returns true, in the order of revisions.
func (j *Journal) find(selects func(*Write) bool) []*Write {
	j.mu.Lock()
	defer j.mu.Unlock()
	var found []*Write
	for w := range j.all {
		if selects(w) {
			found = append(found, w)
		}
	}
	sortByRevision(found)
	return found
}
