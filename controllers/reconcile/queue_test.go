package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/miniapi/miniapi/internal/apitime"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/registry"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// newQueue returns a queue and runs it until the test ends or stop is called.
func newQueue(t *testing.T, reconcile func(context.Context, string) error) (q *Queue, stop func()) {
	q = NewQueue(Config{Clock: apitime.New(nil), Activity: new(Activity), Logger: slog.New(slog.DiscardHandler)}, QueueConfig{Name: "test", Workers: 2, Reconcile: reconcile})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := q.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return q, stop
}

func TestQueueRepeatsFailedReconciliations(t *testing.T) {
	attempts, done := 0, make(chan struct{})
	q, _ := newQueue(t, func(context.Context, string) error {
		if attempts++; attempts < 3 {
			return errors.New("not yet")
		}
		close(done)
		return nil
	})
	q.Add("key")
	<-done
}

// A key that is added while it is reconciled is reconciled again, and never twice at the same time.
func TestQueueSerializesAKey(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	q, _ := newQueue(t, func(context.Context, string) error {
		entered <- struct{}{}
		<-leave
		return nil
	})
	q.Add("key")
	<-entered
	q.Add("key")
	q.Add("key")
	select {
	case <-entered:
		t.Error("the key is reconciled twice at the same time")
	default:
	}
	leave <- struct{}{}
	<-entered
	leave <- struct{}{}
}

// A worker that fails does not hold up other keys.
func TestQueueReconcilesOtherKeysMeanwhile(t *testing.T) {
	done := make(chan struct{})
	q, _ := newQueue(t, func(ctx context.Context, key string) error {
		if key == "hanging" {
			<-ctx.Done()
			return ctx.Err()
		}
		close(done)
		return nil
	})
	q.Add("hanging")
	q.Add("key")
	<-done
}

// After the end of an unused queue, added keys start nothing.
func TestQueueThatEndedStartsNothing(t *testing.T) {
	q, stop := newQueue(t, func(context.Context, string) error { return errors.New("called") })
	stop()
	q.Add("key")
}

// The first of several delays of a key counts, on the clock of the API.
func TestQueueDelaysKeysByTheClock(t *testing.T) {
	clock, reconciled := apitime.New(clocktesting.NewFakeClock(time.Unix(1e9, 0))), make(chan time.Time, 10)
	q := NewQueue(Config{Clock: clock, Activity: new(Activity), Logger: slog.New(slog.DiscardHandler)}, QueueConfig{
		Name: "test", Workers: 1, Reconcile: func(ctx context.Context, _ string) error {
			reconciled <- registry.Now(ctx)
			return nil
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = q.Run(ctx) })
	defer running.Wait()
	defer cancel()
	began := clock.Now()
	q.AddAfter("key", 2*time.Hour)
	q.AddAfter("key", time.Hour)
	q.AddAfter("key", 3*time.Hour)
	for _, at := range []time.Duration{30 * time.Minute, time.Hour, 4 * time.Hour} {
		if err := clock.Advance(at - clock.Now().Sub(began)); err != nil {
			t.Fatal(err)
		}
	}
	q.Add("last") // the only worker reconciles it after all others
	if first := <-reconciled; first.Sub(began) < time.Hour {
		t.Errorf("reconciled after %v", first.Sub(began))
	}
	<-reconciled
	select {
	case at := <-reconciled:
		t.Errorf("reconciled again after %v", at.Sub(began))
	default:
	}
}
