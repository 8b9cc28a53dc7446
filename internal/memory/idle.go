package memory

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A process is idle if it allocated less than idleBytes in each of idleChecks intervals. It returns
// memory if it allocated workBytes since the last return.
const (
	idleInterval = 20 * time.Second
	idleChecks   = 3
	idleBytes    = 4 << 20
	workBytes    = 32 << 20
)

// Returner returns free memory to the operating system when the process becomes idle. Without it,
// Go keeps about twice the memory in use until the next work. It collects the garbage of the whole
// process, so only a main program may run one.
type Returner struct {
	// Allocated returns the bytes that the process has allocated since its start. Nil: read from
	// the runtime.
	Allocated func() uint64
	// Return collects garbage and returns free memory. Nil: debug.FreeOSMemory.
	Return func()
}

// Run returns memory whenever the process has been idle for a minute after work, until ctx ends.
func (r Returner) Run(ctx context.Context) {
	if r.Allocated == nil {
		r.Allocated = readAllocated
	}
	if r.Return == nil {
		r.Return = debug.FreeOSMemory
	}
	ticker := time.NewTicker(idleInterval)
	defer ticker.Stop()
	idle, last, returned := 0, r.Allocated(), uint64(0)
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		allocated := r.Allocated()
		idle++
		if allocated-last > idleBytes {
			idle = 0
		}
		last = allocated
		if idle >= idleChecks && allocated-returned >= workBytes {
			r.Return()
			returned = allocated
		}
	}
}

func readAllocated() uint64 {
	samples := [...]metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples[:])
	return samples[0].Value.Uint64()
}
