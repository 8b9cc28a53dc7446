package watchcache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest"
	"github.com/miniapi/miniapi/storage/watchcache"
)

// cuttableLog is a log that can be interrupted, and that can drop its history.
type cuttableLog struct {
	storage.Log
	mu      sync.Mutex // guards cut
	cut     func()     // ends Follow
	dropped atomic.Bool
}

// Follow fails when the log is cut.
func (l *cuttableLog) Follow(ctx context.Context, after int64, ask <-chan struct{}, report func([]storage.Change, int64)) error {
	followCtx, cut := context.WithCancel(ctx)
	defer cut()
	l.mu.Lock()
	l.cut = cut
	l.mu.Unlock()
	err := l.Log.Follow(followCtx, after, ask, report)
	if err == nil && ctx.Err() == nil {
		return errors.New("the log was cut")
	}
	return err
}

// Retains returns ErrCompacted after the history was dropped, until the state is read.
func (l *cuttableLog) Retains(ctx context.Context, revision int64) error {
	if l.dropped.Load() {
		return storage.ErrCompacted
	}
	return l.Log.Retains(ctx, revision)
}

func (l *cuttableLog) State(ctx context.Context, visit func(storage.Change)) (int64, error) {
	defer l.dropped.Store(false)
	return l.Log.State(ctx, visit)
}

func (l *cuttableLog) interrupt(dropHistory bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropped.Store(dropHistory)
	l.cut()
}

// numbered is a codec that differs from other codecs only in its number, so that the cache treats
// them as different codecs.
type numbered struct {
	storage.Codec
	n int
}

// replacedStore is a store that is replaced by a store with another codec, and whose cache loses
// its log.
type replacedStore struct {
	cache   *watchcache.Cache
	backend *etcd.Backend
	log     *cuttableLog
	current atomic.Pointer[storage.Interface]

	mu    sync.Mutex // guards codec
	codec numbered
}

// replace replaces the store while requests use it.
func (s *replacedStore) replace() {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.codec
	s.codec.n++
	next := s.cache.Store("/", s.codec, s.backend.Store(s.codec))
	if s.current.Swap(&next) != nil {
		s.cache.Remove("/", old)
	}
}

func (s *replacedStore) disturb(random *rand.Rand) {
	if random.IntN(8) == 0 {
		s.log.interrupt(random.IntN(2) == 0)
		return
	}
	s.replace()
}

// disturbedHarness returns a harness like harness whose stores are disturbed.
func disturbedHarness(backing etcd.Config, caching watchcache.Config) storagetest.Harness {
	var stores atomic.Int64
	backing.ProgressInterval = 10 * time.Millisecond
	caching.ProgressInterval = 10 * time.Millisecond
	return storagetest.Harness{New: func(t *testing.T, codec storage.Codec) storagetest.Fixture {
		backing, caching := backing, caching
		backing.Prefix = fmt.Sprintf("/registry/%d", stores.Add(1))
		backend, err := etcd.New(backing)
		if err != nil {
			t.Fatal(err)
		}
		s := &replacedStore{backend: backend, log: &cuttableLog{Log: backend, cut: func() {}}, codec: numbered{Codec: codec}}
		caching.Log = s.log
		s.cache = startCache(t, caching)
		s.replace()
		return storagetest.Fixture{
			Store:   routingStore{*s.current.Load(), func() storage.Interface { return *s.current.Load() }},
			Client:  backing.Client,
			Prefix:  backing.Prefix,
			Disturb: s.disturb,
		}
	}}
}

// TestSimulationDisturbed runs the random simulation while stores are replaced and the cache loses
// its log.
func TestSimulationDisturbed(t *testing.T) {
	for _, name := range []string{"Local", "Remote", "SmallWindow"} {
		configure := configurations(t)[name]
		t.Run(name, func(t *testing.T) {
			server := startEmbedded(t)
			backing, caching := configure(server)
			backing.Client = server.Client()
			storagetest.Simulate(t, disturbedHarness(backing, caching), storagetest.Simulation{Seed: *seed, Writes: *writes})
		})
	}
}
