package etcd_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest"
	"github.com/miniapi/miniapi/storage/transform"
)

var (
	seed   = flag.Uint64("seed", 0, "seed of the simulation; 0: a random seed, which is logged")
	writes = flag.Int("writes", 0, "writes of the simulation; 0: the default")
	// An external cluster may have another version of etcd.
	endpoints = flag.String("endpoints", "", "comma-separated `URLS` of an empty etcd cluster for TestCluster; default: members of the linked etcd")
)

// sealed returns an encrypting transformer.
func sealed(t *testing.T) transform.Transformer {
	t.Helper()
	transformer, err := storagetest.Sealed()
	if err != nil {
		t.Fatal(err)
	}
	return transformer
}

// startEmbedded returns the client of an embedded etcd that ends with the test.
func startEmbedded(t *testing.T) *clientv3.Client {
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
	return server.Client()
}

// harness makes stores configured by cfg. Each has a prefix of its own in the shared etcd.
func harness(cfg etcd.Config) storagetest.Harness {
	var stores atomic.Int64
	base := cfg.Prefix
	if base == "" {
		base = "/registry"
	}
	cfg.ProgressInterval = 10 * time.Millisecond
	return storagetest.Harness{New: func(t *testing.T, codec storage.Codec) storagetest.Fixture {
		cfg := cfg
		cfg.Prefix = fmt.Sprintf("%s/%d", base, stores.Add(1))
		backend, err := etcd.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return storagetest.Fixture{
			Store:       backend.Store(codec),
			Client:      cfg.Client,
			Prefix:      cfg.Prefix,
			Transformer: cfg.Transformer,
		}
	}}
}

func configurations(t *testing.T) map[string]etcd.Config {
	return map[string]etcd.Config{
		"LocalReads":    {LocalReads: true},
		"QuorumReads":   {},
		"AnotherPrefix": {LocalReads: true, Prefix: "/some/where.else"},
		"Transformer":   {LocalReads: true, Transformer: sealed(t)},
		"SmallPages":    {LocalReads: true, PageSize: 2},
	}
}

// TestSuite runs the shared suite on an embedded etcd.
func TestSuite(t *testing.T) {
	for name, cfg := range configurations(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg.Client = startEmbedded(t)
			storagetest.Run(t, harness(cfg))
		})
	}
}

// TestSimulation runs the random simulation on an embedded etcd.
func TestSimulation(t *testing.T) {
	for name, cfg := range configurations(t) {
		t.Run(name, func(t *testing.T) {
			cfg.Client = startEmbedded(t)
			storagetest.Simulate(t, harness(cfg), simulation())
		})
	}
}

// TestSimulationWithLostAnswers runs the simulation with an etcd that applies some writes without
// an answer, some late, and some not at all.
func TestSimulationWithLostAnswers(t *testing.T) {
	for name, cfg := range map[string]etcd.Config{"LocalReads": {LocalReads: true}, "QuorumReads": {}, "Transformer": {LocalReads: true, Transformer: sealed(t)}} {
		t.Run(name, func(t *testing.T) {
			cfg.Client = startEmbedded(t)
			storagetest.LoseAnswers(cfg.Client, 0.1, *seed)
			s := simulation()
			s.Lossy = true
			if s.Writes == 0 {
				s.Writes = 1000 // resolving a write that has not happened takes a while
			}
			storagetest.Simulate(t, harness(cfg), s)
		})
	}
}

// TestEqualWritesAreDistinguished shows that, of equal writes from the same revision, only one is
// resolved as successful although answers are lost.
func TestEqualWritesAreDistinguished(t *testing.T) {
	client, kind, key := startEmbedded(t), storagetest.Kinds()[0], "/pods/ns1/a"
	storagetest.LoseAnswers(client, 0.2, *seed)
	backend, err := etcd.New(etcd.Config{Client: client, LocalReads: true})
	if err != nil {
		t.Fatal(err)
	}
	store := backend.Store(kind.Codec)
	increment := func(_ context.Context, current *storage.Entry) (storage.Proposal, error) {
		value := 0
		if current != nil {
			obj, err := current.Object()
			if err != nil {
				return storage.Proposal{}, err
			}
			if value, err = strconv.Atoi(obj.(metav1.Object).GetGenerateName()); err != nil {
				return storage.Proposal{}, err
			}
		}
		next := kind.New("ns1", "a", "")
		next.SetGenerateName(strconv.Itoa(value + 1))
		return storage.Proposal{Object: next, Receipt: true}, nil
	}
	var counted atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				_, err := store.GuaranteedUpdate(t.Context(), key, increment, storage.UpdateOptions{CreateIfAbsent: true})
				if err == nil || resolve(t, err) {
					counted.Add(1)
				}
			}
		})
	}
	group.Wait()
	entry, err := store.Get(t.Context(), key, storage.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	obj, err := entry.Object()
	if err != nil {
		t.Fatal(err)
	}
	if got := obj.(metav1.Object).GetGenerateName(); got != fmt.Sprint(counted.Load()) {
		t.Errorf("the counter is %s after %d increments", got, counted.Load())
	}
}

// resolve reports whether a write has happened.
func resolve(t *testing.T, err error) bool {
	var unknown *storage.UnknownOutcomeError
	if !errors.As(err, &unknown) {
		return false
	}
	for {
		revision, err := unknown.Resolve(t.Context())
		if err == nil {
			return revision > 0
		}
		if t.Context().Err() != nil {
			t.Error(err)
			return false
		}
	}
}

func simulation() storagetest.Simulation {
	return storagetest.Simulation{Seed: *seed, Writes: *writes}
}

// versioned is a transformer that prefixes stored bytes with its number. Bytes that have the prefix
// of another transformer are stale.
type versioned byte

func (v versioned) ToStorage(_ context.Context, data []byte, _ string) ([]byte, error) {
	return append([]byte{byte(v)}, data...), nil
}

func (v versioned) FromStorage(_ context.Context, data []byte, _ string) ([]byte, bool, error) {
	return data[1:], data[0] != byte(v), nil
}

// TestStaleBytesAreRewritten shows the one case in which an update without a change writes: the
// transformer requests a rewrite.
func TestStaleBytesAreRewritten(t *testing.T) {
	client, kind, key := startEmbedded(t), storagetest.Kinds()[0], "/pods/ns1/a"
	open := func(v versioned) storage.Interface {
		backend, err := etcd.New(etcd.Config{Client: client, LocalReads: true, Transformer: v})
		if err != nil {
			t.Fatal(err)
		}
		return backend.Store(kind.Codec)
	}
	created, err := open(1).Create(t.Context(), key, kind.New("ns1", "a", "1"), storage.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	store, revision := open(2), created.Revision
	for _, want := range []storage.Outcome{storage.Updated, storage.Unchanged} {
		result, err := store.GuaranteedUpdate(t.Context(), key, proposeUnchanged, storage.UpdateOptions{Suggestion: created})
		if err != nil {
			t.Fatal(err)
		}
		if result.Outcome != want || (result.Entry.Revision > revision) != (want == storage.Updated) {
			t.Errorf("outcome %v at revision %d after %d, want %v", result.Outcome, result.Entry.Revision, revision, want)
		}
		revision, created = result.Entry.Revision, result.Entry
	}
}

func proposeUnchanged(_ context.Context, current *storage.Entry) (storage.Proposal, error) {
	obj, err := current.Object()
	if err != nil {
		return storage.Proposal{}, err
	}
	return storage.Proposal{Object: obj.DeepCopyObject()}, nil
}
