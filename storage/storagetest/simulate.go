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

// Simulation configures [Simulate]. The zero value is usable.
type Simulation struct {
	// Seed is the seed of all random choices. 0: a random seed, which is logged. The seed does not
	// determine the order in which goroutines run, so it repeats the mix of operations but not
	// their interleaving.
	Seed uint64
	// Writes is the number of attempted writes, with about as many concurrent reads. Default:
	// 4000.
	Writes int
	// Lossy means that the client of the store loses responses, see [LoseAnswers]: the outcome of
	// some writes must then be unknown.
	Lossy bool

	patience time.Duration // the maximum wait for an event of a watch
}

// The numbers of clients of each type.
const (
	writers  = 6
	readers  = 3
	watchers = 10
)

// Simulate runs random writers, readers and watchers on a store of each kind, compacts and
// disturbs the store meanwhile, and checks their observations against etcd's own history: see
// package model for the guarantees.
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
				t.Error("no write had an unknown outcome")
			}
			t.Log(log)
		})
	}
}

// simulate returns the log of the clients, and the violations of the store.
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
	w := newSimulator(f, kind, begun, history)
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

// simulator is the state that all clients of a simulation share.
type simulator struct {
	Fixture
	kind     Kind
	history  *recorder
	patience time.Duration

	clock     atomic.Int64  // ticks at every call and return
	left      atomic.Int64  // remaining writes
	turns     chan struct{} // one for each read: reads must not outrun the writes
	values    atomic.Int64  // number of written values; each value is unique
	high      atomic.Int64  // the highest revision known to a client
	compacted atomic.Int64  // the revision of the last compaction request

	compacting sync.Mutex
	mu         sync.Mutex
	log        model.Log // guarded by mu while clients run

	// ended is closed when the last writes are done. ends holds the revision of the last write of
	// every key; it is not written to after that.
	ended chan struct{}
	ends  map[string]int64
}

func newSimulator(f Fixture, kind Kind, begun int64, history *recorder) *simulator {
	w := &simulator{Fixture: f, kind: kind, history: history,
		turns: make(chan struct{}, readers), ended: make(chan struct{}), ends: map[string]int64{}}
	w.high.Store(begun)
	w.compacted.Store(begun)
	return w
}

// run runs all clients and returns when they are done.
func (w *simulator) run(ctx context.Context, seed uint64) {
	var writing, reading, watching sync.WaitGroup
	stream := uint64(0)
	next := func() *rand.Rand {
		stream++
		return rand.New(rand.NewPCG(seed, stream))
	}
	for range writers {
		c := &writer{simulator: w, random: next()}
		writing.Go(func() { c.run(ctx) })
	}
	for range readers {
		c := &reader{simulator: w, random: next()}
		reading.Go(func() { c.run(ctx) })
	}
	for i := range watchers {
		c := &watchClient{simulator: w, random: next(), name: fmt.Sprint(i)}
		watching.Go(func() { c.run(ctx) })
	}
	writing.Wait()
	last := &writer{simulator: w, random: next()}
	last.finish(ctx)
	close(w.turns)
	reading.Wait()
	close(w.ended)
	watching.Wait()
}

// takeWrite takes one of the remaining writes and releases one read. It returns false when no
// write remains.
func (w *simulator) takeWrite(ctx context.Context) bool {
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

// namespaces and names form the key space. It is small, so that clients conflict.
func (w *simulator) namespaces() []string { return []string{"ns1", "ns10"} }
func (w *simulator) names() []string      { return []string{"a", "ab", "b", "c"} }
func (w *simulator) colours() []string    { return []string{"red", "blue"} }

// scopes returns the scopes of lists and watches: all objects, a namespace, a key.
func (w *simulator) scopes() []string {
	root := "/" + w.kind.Resource + "/"
	return []string{root, root, root + "ns1/", w.kind.Key("ns1", "a")}
}

func pick[T any](random *rand.Rand, choices []T) T { return choices[random.IntN(len(choices))] }

// span starts an operation. The returned function ends it and returns its span.
func (w *simulator) span() func() model.Span {
	called := w.clock.Add(1)
	return func() model.Span { return model.Span{Call: called, Return: w.clock.Add(1)} }
}

// observe records a revision that a client received.
func (w *simulator) observeRevision(revision int64) { raise(&w.high, revision) }

func raise(to *atomic.Int64, value int64) {
	for {
		current := to.Load()
		if value <= current || to.CompareAndSwap(current, value) {
			return
		}
	}
}

// past returns a random past revision, which may be compacted.
func (w *simulator) past(random *rand.Rand) int64 {
	from := w.compacted.Load()
	return from + random.Int64N(max(w.high.Load()-from, 0)+1)
}

func (w *simulator) record(write func(log *model.Log)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	write(&w.log)
}

func (w *simulator) violation(err error) {
	w.record(func(log *model.Log) { log.Faults = append(log.Faults, err) })
}

// compact compacts etcd at a random revision of the recorded history.
func (w *simulator) compact(ctx context.Context, random *rand.Rand) {
	w.compacting.Lock()
	defer w.compacting.Unlock()
	from, to := w.compacted.Load(), w.history.recorded()
	if to <= from {
		return
	}
	revision := from + 1 + random.Int64N(to-from)
	w.compacted.Store(revision) // before a client can receive ErrCompacted
	if err := w.Compact(ctx, revision); err != nil {
		w.violation(fmt.Errorf("compact at %d: %w", revision, err))
	}
}

// checkCompacted records a violation if a revision was rejected as compacted but is later than the
// last compaction.
func (w *simulator) checkCompacted(revision int64, err error) {
	if compacted := w.compacted.Load(); revision >= compacted {
		w.violation(fmt.Errorf("%w: revision %d, compacted was %d: %w", model.ErrCompaction, revision, compacted, err))
	}
}
