package storagetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest/model"
)

// TestCheckerDetectsFaultyStores runs the simulation on faulty stores. It must name the guarantee
// that each of them breaks. How often a fault occurs in a simulation depends on the speed of the
// machine, so a store has several simulations.
func TestCheckerDetectsFaultyStores(t *testing.T) {
	cases := []struct {
		name  string
		wrong func(storage.Interface) storage.Interface
		want  error
	}{
		{"an event dropped", always(dropEvent), model.ErrReliable},
		{"an event repeated", always(repeatEvent), model.ErrUnique},
		{"two events swapped", swapEvents, model.ErrOrdered},
		{"a bookmark before its event", always(earlyBookmarks), model.ErrBookmarkable},
		{"an event of the wrong type", always(wrongEventType), model.ErrTruthful},
		{"a resumed watch that starts late", resumesLate, model.ErrResumable},
		{"initial events incomplete", dropsInitialEvent, model.ErrInitial},
		{"a lost update", func(s storage.Interface) storage.Interface { return lostUpdates{s} }, model.ErrNoLostUpdate},
		{"an acknowledged write that did not happen", func(s storage.Interface) storage.Interface { return unwrittenCreates{s} }, model.ErrAcknowledged},
		{"an unrequested write", func(s storage.Interface) storage.Interface { return duplicateWrites{s} }, model.ErrExplained},
		{"a stale read", newStaleReads, model.ErrLinearizable},
		{"a list with a wrong revision", func(s storage.Interface) storage.Interface { return wrongListRevision{s} }, model.ErrSnapshot},
		{"pages of several revisions", func(s storage.Interface) storage.Interface { return inconsistentPages{s} }, model.ErrSnapshot},
		{"a revision wrongly reported as compacted", func(s storage.Interface) storage.Interface { return wrongCompaction{s} }, model.ErrCompaction},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var err error
			for seed := uint64(1); seed <= 5; seed++ {
				f := fixture(t)
				f.Store = c.wrong(f.Store)
				_, err = simulate(t.Context(), f, Kinds()[0], Simulation{Seed: seed, Writes: 1500, patience: time.Second})
				if errors.Is(err, c.want) {
					return
				}
			}
			t.Errorf("no simulation returns %v. The last one returns %v", c.want, err)
		})
	}
}

func newStaleReads(s storage.Interface) storage.Interface {
	return staleReads{s, &sync.Mutex{}, map[string]*storage.Entry{}}
}

// TestCheckerAcceptsCorrectStore checks that a correct store behind the same wrapper passes.
func TestCheckerAcceptsCorrectStore(t *testing.T) {
	f := fixture(t)
	f.Store = always(func(_ int, e storage.Event) []storage.Event { return only(e) })(f.Store)
	log, err := simulate(t.Context(), f, Kinds()[0], Simulation{Seed: 1, Writes: 1500})
	if err != nil {
		t.Error(err)
	}
	t.Log(log)
}

func fixture(t *testing.T) Fixture {
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
	backend, err := etcd.New(etcd.Config{Client: server.Client(), LocalReads: true, ProgressInterval: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return Fixture{Store: backend.Store(Kinds()[0].Codec), Client: server.Client(), Prefix: "/registry"}
}
