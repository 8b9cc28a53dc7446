package watchcache_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest"
	"github.com/miniapi/miniapi/storage/watchcache"
)

var (
	seed   = flag.Uint64("seed", 0, "seed of the simulation; 0: any, which is logged")
	writes = flag.Int("writes", 0, "writes of the simulation; 0: its default")
)

// startEmbedded returns an embedded etcd that is closed at the end of the test.
func startEmbedded(t testing.TB) *embedded.Server {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return server
}

// harness returns a harness whose stores use one etcd. Each store has its own prefix and its own
// cache.
func harness(backing etcd.Config, caching watchcache.Config) storagetest.Harness {
	return harnessWithLog(backing, caching, func(log storage.Log) storage.Log { return log })
}

// harnessWithLog is a harness whose caches follow the logs that wrap returns.
func harnessWithLog(backing etcd.Config, caching watchcache.Config, wrap func(storage.Log) storage.Log) storagetest.Harness {
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
		caching.Log = wrap(backend)
		return storagetest.Fixture{
			Store:       startCache(t, caching).Store("/", codec, backend.Store(codec)),
			Client:      backing.Client,
			Prefix:      backing.Prefix,
			Transformer: backing.Transformer,
		}
	}}
}

// startCache returns a cache that runs until the test ends.
func startCache(t testing.TB, cfg watchcache.Config) *watchcache.Cache {
	t.Helper()
	cache, err := watchcache.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- cache.Run(ctx) }() // ends with the test
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if err := cache.AwaitLoaded(t.Context()); err != nil {
		t.Fatal(err)
	}
	return cache
}

// configurations returns configurations of an etcd backend with a cache.
func configurations(t *testing.T) map[string]func(*embedded.Server) (etcd.Config, watchcache.Config) {
	t.Helper()
	sealed, err := storagetest.Sealed()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]func(*embedded.Server) (etcd.Config, watchcache.Config){
		"Local": func(s *embedded.Server) (etcd.Config, watchcache.Config) {
			return etcd.Config{LocalReads: true, Member: s}, watchcache.Config{}
		},
		"Remote": func(*embedded.Server) (etcd.Config, watchcache.Config) {
			return etcd.Config{}, watchcache.Config{}
		},
		"Transformer": func(*embedded.Server) (etcd.Config, watchcache.Config) {
			return etcd.Config{LocalReads: true, Transformer: sealed}, watchcache.Config{}
		},
		"SmallWindow": func(s *embedded.Server) (etcd.Config, watchcache.Config) {
			return etcd.Config{LocalReads: true, Member: s}, watchcache.Config{WindowEvents: 3, IndexFrom: 1}
		},
	}
}

// TestSuite runs the shared suite through the cache.
func TestSuite(t *testing.T) {
	for name, configure := range configurations(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startEmbedded(t)
			backing, caching := configure(server)
			backing.Client = server.Client()
			storagetest.Run(t, harness(backing, caching))
		})
	}
}

// TestSimulation runs the random simulation on the configurations that differ most: over the
// member in the process, and with a window in which few watches and lists find their revision.
// TestReplicas runs it over a client.
func TestSimulation(t *testing.T) {
	for _, name := range []string{"Local", "SmallWindow"} {
		configure := configurations(t)[name]
		t.Run(name, func(t *testing.T) {
			server := startEmbedded(t)
			backing, caching := configure(server)
			backing.Client = server.Client()
			storagetest.Simulate(t, harness(backing, caching), storagetest.Simulation{Seed: *seed, Writes: *writes})
		})
	}
}

// cutLog is a log that fails after a number of reports.
type cutLog struct {
	storage.Log
	reports int
}

// Follow implements storage.Log.
func (l cutLog) Follow(ctx context.Context, after int64, ask <-chan struct{}, report func([]storage.Change, int64)) error {
	cut, cancel := context.WithCancel(ctx)
	defer cancel()
	left := l.reports
	err := l.Log.Follow(cut, after, ask, func(changes []storage.Change, upTo int64) {
		report(changes, upTo)
		if left--; left == 0 {
			cancel()
		}
	})
	if err == nil && ctx.Err() == nil {
		return errors.New("the log was cut")
	}
	return err
}

// TestSimulationWithLosses runs the simulation while answers of writes are lost and the log is
// interrupted repeatedly.
func TestSimulationWithLosses(t *testing.T) {
	for _, name := range []string{"Local", "Remote"} {
		configure := configurations(t)[name]
		t.Run(name, func(t *testing.T) {
			server := startEmbedded(t)
			backing, caching := configure(server)
			backing.Client = server.Client()
			storagetest.LoseAnswers(backing.Client, 0.1, *seed)
			h := harnessWithLog(backing, caching, func(log storage.Log) storage.Log { return cutLog{log, 100} })
			s := storagetest.Simulation{Seed: *seed, Writes: *writes, Lossy: true}
			if s.Writes == 0 {
				s.Writes = 1000
			}
			storagetest.Simulate(t, h, s)
		})
	}
}
