package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newQueue returns a queue and runs it until the test ends or stop is called.
func newQueue(t *testing.T, reconcile func(context.Context, string) error) (q *Queue, stop func()) {
	q = NewQueue(QueueConfig{Name: "test", Workers: 2, Reconcile: reconcile, Logger: slog.New(slog.DiscardHandler)})
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
