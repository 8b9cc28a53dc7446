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
	// awaitTimeout limits the time that Await waits for writes that do not end. A write ends soon
	// after its commit, except on a busy machine.
	awaitTimeout = 5 * time.Second
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
	// pending are the numbers of the writes in progress by key, in ascending order.
	pending map[string][]uint64
	// begun is the number of the last write.
	begun uint64
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
	return &Journal{config: config, now: time.Now, pending: map[string][]uint64{}}
}

// begin announces a write of a key and returns its number. The caller must call end.
func (j *Journal) begin(key string) uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begun++
	j.pending[key] = append(j.pending[key], j.begun)
	return j.begun
}

// end records the write with a number, nil if nothing was written.
func (j *Journal) end(key string, number uint64, w *Write) {
	if w != nil && j.config.Observe != nil {
		j.config.Observe(w)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if w != nil {
		j.add(w)
	}
	if left := slices.DeleteFunc(j.pending[key], func(n uint64) bool { return n == number }); len(left) == 0 {
		delete(j.pending, key)
	} else {
		j.pending[key] = left
	}
	if j.ended != nil {
		close(j.ended)
		j.ended = nil
	}
}

// Await blocks until the journal has every write of this server that changed the key up to a
// revision. A write is recorded after its commit, so another request can see its effect earlier. If
// another server wrote the revision, Await waits for the present writes of the key, not for new
// ones.
func (j *Journal) Await(ctx context.Context, key string, revision int64) {
	ctx, cancel := context.WithTimeout(ctx, awaitTimeout)
	defer cancel()
	j.mu.Lock()
	last := j.begun
	j.mu.Unlock()
	for {
		j.mu.Lock()
		if !j.isPending(key, last) || j.has(key, revision) {
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

// isPending reports whether a write of a key up to a number is in progress.
func (j *Journal) isPending(key string, last uint64) bool {
	numbers := j.pending[key]
	return len(numbers) > 0 && numbers[0] <= last
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
