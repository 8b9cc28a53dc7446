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

// TestCheckerFindsFaults lets the simulation loose on stores that are wrong:
// it must say which guarantee each of them breaks.
func TestCheckerFindsFaults(t *testing.T) {
	cases := []struct {
		name  string
		wrong func(storage.Interface) storage.Interface
		want  error
	}{
		{"an event dropped", always(drops), model.ErrReliable},
		{"an event repeated", always(repeats), model.ErrUnique},
		{"two events swapped", swaps, model.ErrOrdered},
		{"a bookmark before its event", always(bookmarksTooEarly), model.ErrBookmarkable},
		{"an event of the wrong type", always(addsForModifies), model.ErrTruthful},
		{"a resumed watch that begins late", forgetsWhereItWas, model.ErrResumable},
		{"initial events incomplete", beginsIncomplete, model.ErrInitial},
		{"an update lost", func(s storage.Interface) storage.Interface { return losesUpdates{s} }, model.ErrNoLostUpdate},
		{"a write acknowledged and not done", func(s storage.Interface) storage.Interface { return forgetsCreates{s} }, model.ErrAcknowledged},
		{"a write that nobody asked for", func(s storage.Interface) storage.Interface { return writesTwice{s} }, model.ErrExplained},
		{"a stale read", newReadsOld, model.ErrLinearizable},
		{"a list that lies about its revision", func(s storage.Interface) storage.Interface { return listsOfNoRevision{s} }, model.ErrSnapshot},
		{"pages of several revisions", func(s storage.Interface) storage.Interface { return pagesOfTheLatest{s} }, model.ErrSnapshot},
		{"a compaction that never was", func(s storage.Interface) storage.Interface { return forgetsTooMuch{s} }, model.ErrCompaction},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := fixture(t)
			f.Store = c.wrong(f.Store)
			_, err := simulate(t.Context(), f, Kinds()[0], Simulation{Seed: 1, Writes: 1500, patience: time.Second})
			if !errors.Is(err, c.want) {
				t.Errorf("the simulation says %v, want %v", err, c.want)
			}
		})
	}
}

func newReadsOld(s storage.Interface) storage.Interface {
	return readsOld{s, &sync.Mutex{}, map[string]*storage.Entry{}}
}

// TestCheckerFindsNothing is the other half: nothing is wrong with a store
// that is not tampered with, seen through the same wrapping.
func TestCheckerFindsNothing(t *testing.T) {
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
