package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// stays is the index of the object that is never deleted.
	stays = 0
	// readers is the number of readers, readsEach the number of reads of each.
	readers   = 4
	readsEach = 300
)

// TestMonotonicReads checks that a client of one server, which reads the latest state, any state,
// or a state not older than a given revision, never sees a state older than an earlier read or than
// the given revision.
func TestMonotonicReads(t *testing.T) {
	inArenas(t, func(t *testing.T, a *arena, source rand.Source) {
		servers := a.namespaces(t, "reads")
		var written acknowledged
		writing, ctx := errgroup.WithContext(t.Context())
		reading, readCtx := errgroup.WithContext(ctx)
		finished, ticks := make(chan struct{}), make(chan struct{}, 1)
		for key := range keys {
			w := &writer{servers: servers, lossy: a.lossy, ticks: ticks, written: &written[key], key: key, random: random(source)}
			writing.Go(func() error { return w.run(ctx, finished) })
		}
		for i := range readers {
			r := &reader{server: servers[i%len(servers)], lossy: a.lossy, written: &written, random: random(source)}
			reading.Go(func() error { return r.run(readCtx) })
		}
		stop := background(t, func(ctx context.Context) error { return a.disturb(ctx, ticks) })
		defer stop()
		err := reading.Wait()
		close(finished)
		check(t, errors.Join(err, writing.Wait()))
	})
}

// acknowledged holds the revision of the last acknowledged write of each object, without deletions.
type acknowledged [keys]atomic.Int64

func (a *acknowledged) now() (revisions [keys]int64) {
	for key := range a {
		revisions[key] = a[key].Load()
	}
	return revisions
}

// writer repeatedly creates, updates and deletes an object at random servers.
type writer struct {
	servers []configMaps
	lossy   bool
	ticks   chan<- struct{}
	written *atomic.Int64
	key     int
	random  *rand.Rand
}

func (w *writer) run(ctx context.Context, finished <-chan struct{}) error {
	verbs := []verb{verbCreate, verbUpdate, verbPatch, verbUpdate, verbDelete}
	for i := 0; ; i++ {
		select {
		case <-finished:
			return nil
		case w.ticks <- struct{}{}:
		default:
		}
		in := input{verb: verbs[i%len(verbs)], key: w.key, value: fmt.Sprint(i), colour: "red"}
		if w.key == stays && i > 0 {
			in.verb = verbUpdate
		}
		if err := w.write(ctx, in); err != nil && !w.lossy {
			return fmt.Errorf("%s: %w", in, err)
		}
	}
}

func (w *writer) write(ctx context.Context, in input) error {
	o, err := in.send(ctx, pick(w.random, w.servers...))
	if err != nil || in.verb == verbDelete {
		return err
	}
	written, err := observed(o)
	if err == nil {
		w.written.Store(written.revision)
	}
	return err
}

// reader reads from one server.
type reader struct {
	server  configMaps
	lossy   bool
	written *acknowledged
	random  *rand.Rand
	// seen is the last revision of each object that was read, 0 for a missing object.
	seen [keys]int64
	// since is the latest revision of the state in which seen was read.
	since [keys]int64
	// listed is the revision of the last list.
	listed int64
}

func (r *reader) run(ctx context.Context) error {
	for range readsEach {
		written := r.written.now()
		asked, least := r.choose(written)
		read := r.get
		if r.random.IntN(2) == 0 {
			read = r.list
		}
		if err := read(ctx, asked, least, written); err != nil && !(r.lossy && failed(err)) {
			return err
		}
	}
	return nil
}

// choose returns the resourceVersion of a read and the minimum revision of its response.
func (r *reader) choose(written [keys]int64) (asked string, least int64) {
	switch r.random.IntN(3) {
	case 0:
		return "0", 0
	case 1:
		for _, revision := range written {
			least = max(least, revision)
		}
		return "", least
	}
	least = pick(r.random, append(written[:], r.listed)...)
	return fmt.Sprint(least), least
}

func (r *reader) get(ctx context.Context, asked string, least int64, written [keys]int64) error {
	key := r.random.IntN(keys)
	o, err := r.server.Get(ctx, keyNames[key], metav1.GetOptions{ResourceVersion: asked})
	var read object
	if err == nil {
		read, err = observed(o)
	}
	if err == nil || apierrors.IsNotFound(err) {
		err = r.sees(key, read.revision, least, written[key])
	}
	if err != nil {
		return fmt.Errorf("get %s at %q: %w", keyNames[key], asked, err)
	}
	return nil
}

func (r *reader) list(ctx context.Context, asked string, least int64, written [keys]int64) error {
	page, err := r.server.List(ctx, metav1.ListOptions{ResourceVersion: asked})
	var out output
	if err == nil {
		err = out.add(page, 0)
	}
	if least = max(least, r.listed, slices.Max(r.since[:])); err == nil && out.revision < least {
		err = fmt.Errorf("revision %d is older than %d", out.revision, least)
	}
	r.listed = max(r.listed, out.revision)
	for key := 0; err == nil && key < keys; key++ {
		err = r.sees(key, out.objects[key].revision, out.revision, written[key])
	}
	if err != nil {
		return fmt.Errorf("list at %q: %w", asked, err)
	}
	return nil
}

// sees records that an object has a revision, 0 if it is missing, in a state that is not older than
// at. It returns an error if that contradicts an earlier read or an acknowledged write.
func (r *reader) sees(key int, revision, at, written int64) error {
	deleted := revision == 0 && key != stays
	switch {
	case revision != 0 && revision != r.seen[key] && revision <= r.since[key]:
		return fmt.Errorf("%s has revision %d after revision %d at %d", keyNames[key], revision, r.seen[key], r.since[key])
	case revision < written && written <= at && !deleted:
		return fmt.Errorf("%s has revision %d, but had revision %d at %d", keyNames[key], revision, written, at)
	case revision == 0 && r.seen[key] != 0 && !deleted:
		return fmt.Errorf("%s is missing", keyNames[key])
	case revision == 0 && r.seen[key] != 0:
		r.since[key]++ // the deletion had its own revision
	}
	r.seen[key] = revision
	r.since[key] = max(r.since[key], revision, at)
	return nil
}
