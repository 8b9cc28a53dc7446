package storagetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miniapi/miniapi/storage/storagetest/model"
)

// Simulation is what [Simulate] does to a store. The zero value is usable.
type Simulation struct {
	// Seed of every choice. 0: any; the log tells which. The order in which
	// goroutines run is not in it, so a seed repeats the mix of operations and
	// not their interleaving.
	Seed uint64
	// Writes is how many writes are tried, with about as many reads beside
	// them; 4000 by default.
	Writes int
	// Lossy says that the store's client loses answers, see [LoseAnswers]: the
	// outcome of some writes must be unknown.
	Lossy bool

	patience time.Duration // with a watch that does not come to its end
}

// How many clients there are of each sort.
const (
	writers  = 6
	readers  = 3
	watchers = 10
)

// Simulate lets writers, readers and watchers loose on a store of each kind,
// compacts and disturbs it meanwhile, and checks what they saw against etcd's own
// history: see package model for what is guaranteed.
func Simulate(t *testing.T, h Harness, s Simulation) {
	if s.Seed == 0 {
		s.Seed = rand.Uint64()
	}
	for _, kind := range Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Logf("the simulation's seed is %d", s.Seed)
			log, err := simulate(t.Context(), h.New(t, kind.Codec), kind, s)
			if err != nil {
				t.Error(err)
			}
			if s.Lossy && log != nil && log.Resolved == 0 {
				t.Error("the outcome of no write was unknown")
			}
			t.Log(log)
		})
	}
}

// simulate returns what clients saw, and what the store did wrong.
func simulate(ctx context.Context, f Fixture, kind Kind, s Simulation) (*model.Log, error) {
	if s.Writes == 0 {
		s.Writes = 4000
	}
	if s.patience == 0 {
		s.patience = patience
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begun, err := f.Revision(ctx)
	if err != nil {
		return nil, err
	}
	history := newRecorder(f, kind, begun)
	var recording sync.WaitGroup
	recording.Go(func() { history.run(ctx) })
	w := newWorld(f, kind, begun, history)
	w.patience = s.patience
	w.left.Store(int64(s.Writes))
	w.run(ctx, s.Seed)
	changes, err := history.upTo(ctx, w.high.Load())
	cancel()
	recording.Wait()
	if err != nil {
		return nil, err
	}
	known, err := model.NewHistory(changes)
	if err != nil {
		return nil, fmt.Errorf("history of etcd: %w", err)
	}
	return &w.log, model.Check(known, &w.log)
}

// world is what all clients of a simulation share.
type world struct {
	Fixture
	kind     Kind
	history  *recorder
	patience time.Duration

	clock  atomic.Int64  // ticks at every call and return
	left   atomic.Int64  // writes that are still to be tried
	turns  chan struct{} // one for each read: reads must not outrun the writes
	values atomic.Int64  // every value written is another
	high   atomic.Int64  // the greatest revision that is known to a client
	floor  atomic.Int64  // the greatest revision that etcd was told to compact at

	compacting sync.Mutex
	mu         sync.Mutex
	log        model.Log // guarded by mu while clients run

	// ended is closed when the last writes are done. ends, not written to
	// after that, has the revision of the last write of every key.
	ended chan struct{}
	ends  map[string]int64
}

func newWorld(f Fixture, kind Kind, begun int64, history *recorder) *world {
	w := &world{Fixture: f, kind: kind, history: history,
		turns: make(chan struct{}, readers), ended: make(chan struct{}), ends: map[string]int64{}}
	w.high.Store(begun)
	w.floor.Store(begun)
	return w
}

// run returns when every client is done.
func (w *world) run(ctx context.Context, seed uint64) {
	var writing, reading, watching sync.WaitGroup
	stream := uint64(0)
	next := func() *rand.Rand {
		stream++
		return rand.New(rand.NewPCG(seed, stream))
	}
	for range writers {
		c := &writer{world: w, random: next()}
		writing.Go(func() { c.run(ctx) })
	}
	for range readers {
		c := &reader{world: w, random: next()}
		reading.Go(func() { c.run(ctx) })
	}
	for i := range watchers {
		c := &watchClient{world: w, random: next(), name: fmt.Sprint(i)}
		watching.Go(func() { c.run(ctx) })
	}
	writing.Wait()
	last := &writer{world: w, random: next()}
	last.finish(ctx)
	close(w.turns)
	reading.Wait()
	close(w.ended)
	watching.Wait()
}

// turn takes one of the writes that are left, and lets a read go along with
// it. It returns false when none is left.
func (w *world) turn(ctx context.Context) bool {
	if w.left.Add(-1) < 0 {
		return false
	}
	select {
	case w.turns <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// namespaces and names make up the key space: small, so that clients meet.
func (w *world) namespaces() []string { return []string{"ns1", "ns10"} }
func (w *world) names() []string      { return []string{"a", "ab", "b", "c"} }
func (w *world) colours() []string    { return []string{"red", "blue"} }

// scopes are what can be listed and watched: everything, a namespace, a key.
func (w *world) scopes() []string {
	root := "/" + w.kind.Resource + "/"
	return []string{root, root, root + "ns1/", w.kind.Key("ns1", "a")}
}

func pick[T any](random *rand.Rand, choices []T) T { return choices[random.IntN(len(choices))] }

// span returns the moment of a call and a function that returns the span of
// the operation when it has returned.
func (w *world) span() func() model.Span {
	called := w.clock.Add(1)
	return func() model.Span { return model.Span{Call: called, Return: w.clock.Add(1)} }
}

// saw makes a revision known that a client learnt of.
func (w *world) saw(revision int64) { raise(&w.high, revision) }

func raise(to *atomic.Int64, value int64) {
	for {
		current := to.Load()
		if value <= current || to.CompareAndSwap(current, value) {
			return
		}
	}
}

// past returns a revision that was there and is perhaps not compacted.
func (w *world) past(random *rand.Rand) int64 {
	from := w.floor.Load()
	return from + random.Int64N(max(w.high.Load()-from, 0)+1)
}

func (w *world) record(write func(log *model.Log)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	write(&w.log)
}

func (w *world) fault(err error) {
	w.record(func(log *model.Log) { log.Faults = append(log.Faults, err) })
}

// compact lets etcd forget a part of what the history has recorded.
func (w *world) compact(ctx context.Context, random *rand.Rand) {
	w.compacting.Lock()
	defer w.compacting.Unlock()
	from, to := w.floor.Load(), w.history.recorded()
	if to <= from {
		return
	}
	revision := from + 1 + random.Int64N(to-from)
	w.floor.Store(revision) // before anybody can be told that it is compacted
	if err := w.Compact(ctx, revision); err != nil {
		w.fault(fmt.Errorf("compact at %d: %w", revision, err))
	}
}

// mayBeCompacted records a fault if a revision was refused as compacted that
// etcd was never told to compact.
func (w *world) mayBeCompacted(revision int64, err error) {
	if floor := w.floor.Load(); revision >= floor {
		w.fault(fmt.Errorf("%w: revision %d, compacted was %d: %w", model.ErrCompaction, revision, floor, err))
	}
}
