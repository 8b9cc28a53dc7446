package reconcile

import (
	"context"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"

	"github.com/miniapi/miniapi/internal/apitime"
	"github.com/miniapi/miniapi/registry"
)

const (
	// minRetryDelay is the delay before the first retry of a key. It doubles with each failure.
	minRetryDelay = 5 * time.Millisecond
	maxRetryDelay = time.Minute
)

// QueueConfig configures a Queue.
type QueueConfig struct {
	// Name occurs in the log and in metrics.
	Name string
	// Workers is the maximum number of keys that are reconciled at the same time.
	Workers int
	// Reconcile brings the object of a key to the desired state. After an error it is called again,
	// with a growing delay. It is never called twice at the same time for one key.
	Reconcile func(ctx context.Context, key string) error
}

// Queue holds keys to reconcile, each once. Its methods are safe for concurrent use. It starts no
// worker before the first key.
type Queue struct {
	config QueueConfig
	logger *slog.Logger
	clock  *apitime.Clock
	work   work
	delays delays
	used   chan struct{} // closed with the first key
	start  func() keys
}

type keys = workqueue.TypedRateLimitingInterface[string]

// NewQueue returns an empty queue of a controller.
func NewQueue(controller Config, config QueueConfig) *Queue {
	q := &Queue{config: config, logger: controller.Logger, clock: controller.Clock, used: make(chan struct{})}
	q.work = work{queue: config.Name, activity: controller.Activity, pending: map[string]uint64{}}
	controller.Activity.add(&q.work)
	q.start = sync.OnceValue(func() keys {
		defer close(q.used)
		return controller.Metrics.newKeys(config.Name)
	})
	return q
}

// Add adds a key, unless it is waiting already. A key that is being reconciled is reconciled again.
func (q *Queue) Add(key string) {
	q.work.add(key)
	q.start().Add(key)
}

// AddAfter adds a key when the time of the API has advanced by a delay. Until then it is not work
// to do. Of several delays of a key the first one to end counts.
func (q *Queue) AddAfter(key string, delay time.Duration) {
	q.start()
	q.delays.add(q.clock, key, delay, func() { q.Add(key) })
}

// AddBatched adds a key after a short delay, in which further changes can be added. It is work to
// do at once.
func (q *Queue) AddBatched(key string, delay time.Duration) {
	q.work.add(key)
	q.start().AddAfter(key, delay)
}

// Run reconciles keys until ctx ends, and returns nil then.
func (q *Queue) Run(ctx context.Context) error {
	select {
	case <-q.used:
	case <-ctx.Done():
		// The queue is created and shut down, so that a later Add starts nothing.
		q.delays.end()
		q.start().ShutDown()
		return nil
	}
	keys := q.start()
	var workers sync.WaitGroup
	for range q.config.Workers {
		workers.Go(func() { q.reconcileAll(registry.WithClock(ctx, q.clock), keys) })
	}
	<-ctx.Done()
	q.delays.end()
	keys.ShutDown()
	workers.Wait()
	return nil
}

func (q *Queue) reconcileAll(ctx context.Context, keys keys) {
	for {
		key, ended := keys.Get()
		if ended {
			return
		}
		pass := q.work.begin(key)
		retried := ctx.Err() == nil && q.reconcile(ctx, keys, key)
		keys.Done(key)
		if !retried {
			q.work.end(key, pass)
		}
	}
}

// reconcile reconciles a key. It reports whether the key will be reconciled again soon: another
// writer was faster. Other failures are retried at a later time.
func (q *Queue) reconcile(ctx context.Context, keys keys, key string) (retried bool) {
	err := q.config.Reconcile(ctx, key)
	if err == nil {
		keys.Forget(key)
		return false
	}
	if ctx.Err() != nil {
		return false
	}
	level, expected := slog.LevelWarn, isExpected(err)
	if expected {
		level = slog.LevelDebug
	}
	q.logger.Log(ctx, level, q.config.Name+": reconciliation failed", "key", key, "retries", keys.NumRequeues(key), "error", err)
	keys.AddRateLimited(key)
	return expected
}

// isExpected reports whether another writer was faster, or the namespace is being deleted.
func isExpected(err error) bool {
	return IgnoreGone(err) == nil || apierrors.IsAlreadyExists(err) || IgnoreTerminating(err) == nil
}
