package memory

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultBytes is the budget without a memory limit of the process.
const DefaultBytes = 2 << 30

// The part of the memory limit that live memory and reservations may take. The rest is for memory
// that nothing reserves and for garbage.
const (
	usableParts = 3
	limitParts  = 4
)

// collectInterval is the shortest time between two garbage collections that rejections cause.
const collectInterval = time.Second

// ErrExhausted is returned when a reservation exceeds the budget.
var ErrExhausted = errors.New("the memory budget of the server is exhausted, try again later")

// Config configures a Budget.
type Config struct {
	// Bytes is the budget, and its maximum if the process has a memory limit. 0: DefaultBytes.
	Bytes int64
	// Process returns the memory of the process. Nil: ReadProcess.
	Process func() Process
	// Collect runs a garbage collection. Nil: runtime.GC.
	Collect func()
}

// Process is the memory of a process.
type Process struct {
	// Limit is the soft memory limit, math.MaxInt64 if there is none.
	Limit int64
	// Live is the memory in use: the heap objects that the last garbage collection has found, and
	// the stacks.
	Live int64
}

// Budget limits the bytes that are reserved together. Safe for concurrent use.
type Budget struct {
	config   Config
	limit    int64 // of the process
	used     atomic.Int64
	rejected atomic.Uint64

	mu        sync.Mutex // guards collected
	collected time.Time
}

// NewBudget returns a Budget. It reads the memory limit of the process once.
func NewBudget(config Config) *Budget {
	if config.Bytes == 0 {
		config.Bytes = DefaultBytes
	}
	if config.Process == nil {
		config.Process = ReadProcess
	}
	if config.Collect == nil {
		config.Collect = collect
	}
	return &Budget{config: config, limit: config.Process().Limit}
}

// Stats is the state of a Budget.
type Stats struct {
	Limit    int64  // bytes that can be reserved together
	Reserved int64  // bytes that are reserved
	Rejected uint64 // reservations that exceeded the limit
}

// Stats returns the current state.
func (b *Budget) Stats() Stats {
	return Stats{Limit: max(b.available(), 0), Reserved: b.used.Load(), Rejected: b.rejected.Load()}
}

// available returns the bytes that can be reserved together. It is negative if live memory alone
// exceeds the usable part of the memory limit.
func (b *Budget) available() int64 {
	if b.limit == math.MaxInt64 {
		return b.config.Bytes
	}
	return min(b.config.Bytes, b.limit/limitParts*usableParts-b.config.Process().Live)
}

// reserve adds bytes to the reservations of a request that has reserved own bytes before, or
// returns ErrExhausted. The live heap that the last garbage collection has found may be gone, so a
// rejection collects garbage and tries again.
func (b *Budget) reserve(bytes, own int64) error {
	if b.try(bytes, own) || b.collectGarbage() && b.try(bytes, own) {
		return nil
	}
	b.rejected.Add(1)
	return ErrExhausted
}

// try reserves bytes and reports whether they are available. A reservation larger than the budget
// is allowed if it is the only one.
func (b *Budget) try(bytes, own int64) bool {
	used, available := b.used.Add(bytes), b.available()
	if used <= available || used == own+bytes && available > 0 {
		return true
	}
	b.used.Add(-bytes)
	return false
}

// collectGarbage runs a garbage collection and reports whether it did. It does nothing without a
// memory limit, during another collection, and shortly after the last one.
func (b *Budget) collectGarbage() bool {
	if b.limit == math.MaxInt64 || !b.mu.TryLock() {
		return false
	}
	defer b.mu.Unlock()
	if time.Since(b.collected) < collectInterval {
		return false
	}
	b.config.Collect()
	b.collected = time.Now()
	return true
}
