package reconcile

import (
	"context"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
)

const (
	// minRetryDelay is the delay before the first retry of a key. It doubles with each failure.
	minRetryDelay = 5 * time.Millisecond
	maxRetryDelay = time.Minute
)

// QueueConfig configures a Queue.
type QueueConfig struct {
	// Name occurs in the log.
	Name string
	// Workers is the maximum number of keys that are reconciled at the same time.
	Workers int
	// Reconcile brings the object of a key to the desired state. After an error it is called again,
	// with a growing delay. It is never called twice at the same time for one key.
	Reconcile func(ctx context.Context, key string) error
	Logger    *slog.Logger
}

// Queue holds keys to reconcile, each once. Its methods are safe for concurrent use. It starts no
// worker before the first key.
type Queue struct {
	config QueueConfig
	used   chan struct{} // closed with the first key
	start  func() keys
}

type keys = workqueue.TypedRateLimitingInterface[string]

// NewQueue returns an empty queue.
func NewQueue(config QueueConfig) *Queue {
	q := &Queue{config: config, used: make(chan struct{})}
	q.start = sync.OnceValue(func() keys {
		defer close(q.used)
		return workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](minRetryDelay, maxRetryDelay))
	})
	return q
}

// Add adds a key, unless it is waiting already. A key that is being reconciled is reconciled again.
func (q *Queue) Add(key string) { q.start().Add(key) }

// AddAfter adds a key after a delay.
func (q *Queue) AddAfter(key string, delay time.Duration) { q.start().AddAfter(key, delay) }

// Run reconciles keys until ctx ends, and returns nil then.
func (q *Queue) Run(ctx context.Context) error {
	select {
	case <-q.used:
	case <-ctx.Done():
		// The queue is created and shut down, so that a later Add starts nothing.
		q.start().ShutDown()
		return nil
	}
	keys := q.start()
	var workers sync.WaitGroup
	for range q.config.Workers {
		workers.Go(func() { q.work(ctx, keys) })
	}
	<-ctx.Done()
	keys.ShutDown()
	workers.Wait()
	return nil
}

func (q *Queue) work(ctx context.Context, keys keys) {
	for {
		key, ended := keys.Get()
		if ended {
			return
		}
		if ctx.Err() == nil {
			q.reconcile(ctx, keys, key)
		}
		keys.Done(key)
	}
}

func (q *Queue) reconcile(ctx context.Context, keys keys, key string) {
	err := q.config.Reconcile(ctx, key)
	if err == nil {
		keys.Forget(key)
		return
	}
	if ctx.Err() != nil {
		return
	}
	level := slog.LevelWarn
	if isExpected(err) {
		level = slog.LevelDebug
	}
	q.config.Logger.Log(ctx, level, q.config.Name+": reconciliation failed", "key", key, "retries", keys.NumRequeues(key), "error", err)
	keys.AddRateLimited(key)
}

// isExpected reports whether another writer was faster, or the namespace is being deleted.
func isExpected(err error) bool {
	return IgnoreGone(err) == nil || apierrors.IsAlreadyExists(err) || IgnoreTerminating(err) == nil
}
