package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/apitime"
)

// awaitIdle waits until no work is left.
func awaitIdle(t *testing.T, a *Activity) {
	t.Helper()
	for {
		work, changed := a.Pending(0)
		if len(work) == 0 {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatal(work)
		}
	}
}

func TestActivityCountsKeysUntilTheyAreReconciled(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "key", errors.New("changed"))
	for name, c := range map[string]struct {
		failures []error
		passes   int
	}{
		"success":                     {nil, 1},
		"a conflict is retried soon":  {[]error{conflict, conflict, conflict}, 4},
		"other errors wait":           {[]error{errors.New("unavailable"), errors.New("unavailable")}, 1},
		"an error after the conflict": {[]error{conflict, errors.New("unavailable"), errors.New("unavailable")}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var activity Activity
			var mu sync.Mutex // guards passes
			passes := 0
			blocked := make(chan struct{})
			q := NewQueue(Config{Clock: apitime.New(nil), Activity: &activity, Logger: slog.New(slog.DiscardHandler)}, QueueConfig{
				Name: "test", Workers: 1, Reconcile: func(ctx context.Context, key string) error {
					if key == "last" {
						<-blocked
						return nil
					}
					mu.Lock()
					defer mu.Unlock()
					if passes++; passes <= len(c.failures) {
						return c.failures[passes-1]
					}
					return nil
				},
			})
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { _ = q.Run(ctx) })
			defer running.Wait()
			defer cancel()
			q.Add("key")
			q.AddAfter("later", time.Hour)
			awaitIdle(t, &activity)
			mu.Lock()
			if passes < c.passes {
				t.Errorf("%d passes, want %d", passes, c.passes)
			}
			mu.Unlock()
			q.Add("last")
			if work, _ := activity.Pending(0); len(work) != 1 || !strings.Contains(work[0], "last") {
				t.Errorf("work is %q while a key is reconciled", work)
			}
			close(blocked)
			awaitIdle(t, &activity)
		})
	}
}

func TestActivityCountsChangesThatAreNotHandled(t *testing.T) {
	var activity Activity
	if work, _ := activity.Pending(7); len(work) != 1 {
		t.Errorf("work is %q before the first change is handled", work)
	}
	_, changed := activity.Pending(7)
	activity.Handled(7)
	<-changed
	if work, _ := activity.Pending(7); len(work) != 0 {
		t.Errorf("work is %q", work)
	}
}
