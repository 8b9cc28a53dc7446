package memory

import (
	"math"
	"runtime"
	"runtime/metrics"
)

// ReadProcess returns the memory of this process.
func ReadProcess() Process {
	samples := [...]metrics.Sample{
		{Name: "/gc/gomemlimit:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
	}
	metrics.Read(samples[:])
	return Process{
		Limit: int64(min(samples[0].Value.Uint64(), math.MaxInt64)),
		Live:  int64(samples[1].Value.Uint64() + samples[2].Value.Uint64()),
	}
}

// Share returns a size for a cache: bytes, but at most an eighth of the memory limit.
func (p Process) Share(bytes int64) int64 { return min(bytes, p.Limit/8) }

func collect() { runtime.GC() }
