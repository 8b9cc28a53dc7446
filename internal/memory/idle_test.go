package memory

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Memory is returned once after each period of work, after a minute without work.
func TestReturner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var allocated, returned atomic.Uint64
		allocated.Store(workBytes)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go Returner{
			Allocated: allocated.Load,
			Return:    func() { returned.Add(1) },
		}.Run(ctx)
		steps := []struct {
			name      string
			allocated uint64 // in the first interval of the step
			duration  time.Duration
			want      uint64 // returns since the start
		}{
			{"the start of the process", 0, time.Minute, 1},
			{"idle", 0, time.Hour, 1},
			{"less work than the least", workBytes - 1, time.Hour, 1},
			{"the work together", 1, time.Hour, 2},
			{"work", workBytes, time.Minute, 2},
			{"more work", workBytes, time.Minute, 2},
			{"idle after the work", 0, 20 * time.Second, 3},
		}
		for _, step := range steps {
			allocated.Add(step.allocated)
			time.Sleep(step.duration)
			synctest.Wait()
			if got := returned.Load(); got != step.want {
				t.Fatalf("%s: memory was returned %d times, want %d", step.name, got, step.want)
			}
		}
	})
}

func TestReadAllocated(t *testing.T) {
	before := readAllocated()
	sink = make([]byte, 1<<20)
	if after := readAllocated(); after-before < 1<<20 {
		t.Errorf("%d bytes allocated, want 1 MiB at least", after-before)
	}
}

var sink []byte
