package bench

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// side is one of the two sides of a comparison. do runs operation i; workers is the number of
// concurrent operations.
type side struct {
	name    string
	workers int
	do      func(worker, i int) error
	spent   time.Duration
	// usage returns the CPU time of the server. Nil: of this process.
	usage func() time.Duration
	cpu   time.Duration // while the side runs
	done  int
}

// A side runs an eighth of its operations, but no more than maxSlice, before the other side
// continues.
const maxSlice = 512

// compare alternates between both sides for b.N operations each, and reports their rates and
// the ratio of the first to the second.
func compare(b *testing.B, ours, raw *side) {
	b.Helper()
	b.ResetTimer()
	slice := min(maxSlice, max(1, b.N/8))
	for ours.done < b.N {
		n := min(slice, b.N-ours.done)
		ours.run(b, n)
		raw.run(b, n)
	}
	b.StopTimer()
	b.ReportMetric(ours.rate(), ours.name+"/s")
	b.ReportMetric(raw.rate(), raw.name+"/s")
	b.ReportMetric(ours.rate()/raw.rate(), "ratio")
	b.ReportMetric(ours.cpu.Seconds()/raw.cpu.Seconds(), "cpu-ratio")
	b.ReportMetric(float64(ours.spent.Nanoseconds())/float64(ours.done), "ns/op")
}

func (s *side) run(b *testing.B, n int) {
	b.Helper()
	var next atomic.Int64
	var failed atomic.Pointer[error]
	if s.usage == nil {
		s.usage = func() time.Duration { return cpuTime(b) }
	}
	started, cpu := time.Now(), s.usage()
	var wg sync.WaitGroup
	for worker := range s.workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || failed.Load() != nil {
					return
				}
				if err := s.do(worker, s.done+i); err != nil {
					failed.Store(&err)
					return
				}
			}
		})
	}
	wg.Wait()
	s.spent += time.Since(started)
	s.cpu += s.usage() - cpu
	s.done += n
	if err := failed.Load(); err != nil {
		b.Fatalf("%s: %v", s.name, *err)
	}
}

func (s *side) rate() float64 { return float64(s.done) / s.spent.Seconds() }
