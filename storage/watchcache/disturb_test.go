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

// cuttableLog is a log that can be cut, and forget what happened until then.
type cuttableLog struct {
	storage.Log
	mu        sync.Mutex // guards cut
	cut       func()     // ends Follow
	forgotten atomic.Bool
}

// Follow fails when the log is cut.
func (l *cuttableLog) Follow(ctx context.Context, after int64, ask <-chan struct{}, report func([]storage.Change, int64)) error {
	whole, cut := context.WithCancel(ctx)
	defer cut()
	l.mu.Lock()
	l.cut = cut
	l.mu.Unlock()
	err := l.Log.Follow(whole, after, ask, report)
	if err == nil && ctx.Err() == nil {
		return errors.New("the log was cut")
	}
	return err
}

// Retains returns ErrCompacted after the log has forgotten, until its state is read.
func (l *cuttableLog) Retains(ctx context.Context, revision int64) error {
	if l.forgotten.Load() {
		return storage.ErrCompacted
	}
	return l.Log.Retains(ctx, revision)
}

func (l *cuttableLog) State(ctx context.Context, visit func(storage.Change)) (int64, error) {
	defer l.forgotten.Store(false)
	return l.Log.State(ctx, visit)
}

func (l *cuttableLog) breakOff(forget bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgotten.Store(forget)
	l.cut()
}

// numbered is a codec of its own for the cache, and does what the one inside does.
type numbered struct {
	storage.Codec
	n int
}

// unsteady is a store of a cache that is replaced by one with another codec, and whose cache loses
// its log.
type unsteady struct {
	cache   *watchcache.Cache
	backend *etcd.Backend
	log     *cuttableLog
	current atomic.Pointer[storage.Interface]

	mu    sync.Mutex // guards codec
	codec numbered
}

// replace retires the store under the requests that hold it.
func (u *unsteady) replace() {
	u.mu.Lock()
	defer u.mu.Unlock()
	old := u.codec
	u.codec.n++
	next := u.cache.Store("/", u.codec, u.backend.Store(u.codec))
	if u.current.Swap(&next) != nil {
		u.cache.Remove("/", old)
	}
}

func (u *unsteady) disturb(random *rand.Rand) {
	if random.IntN(8) == 0 {
		u.log.breakOff(random.IntN(2) == 0)
		return
	}
	u.replace()
}

// disturbed makes stores as harness does, that are disturbed.
func disturbed(backing etcd.Config, caching watchcache.Config) storagetest.Harness {
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
		u := &unsteady{backend: backend, log: &cuttableLog{Log: backend}, codec: numbered{Codec: codec}}
		caching.Log = u.log
		u.cache = startCache(t, caching)
		u.replace()
		return storagetest.Fixture{
			Store:   forward{*u.current.Load(), func() storage.Interface { return *u.current.Load() }},
			Client:  backing.Client,
			Prefix:  backing.Prefix,
			Disturb: u.disturb,
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
			storagetest.Simulate(t, disturbed(backing, caching), storagetest.Simulation{Seed: *seed, Writes: *writes})
		})
	}
}
