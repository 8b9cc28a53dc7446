// Package broadcast notifies any number of goroutines of a change.
package broadcast

import "sync/atomic"

// Broadcast notifies goroutines of changes. The zero value is ready. Safe for concurrent use.
//
// A goroutine that waits for a condition calls Changed before it reads the state. A goroutine that
// changes the state calls Notify afterwards. Then no change is missed.
type Broadcast struct{ waiting atomic.Pointer[chan struct{}] }

// Changed returns a channel that the next call of Notify closes.
func (b *Broadcast) Changed() <-chan struct{} {
	for {
		if waiting := b.waiting.Load(); waiting != nil {
			return *waiting
		}
		changed := make(chan struct{})
		if b.waiting.CompareAndSwap(nil, &changed) {
			return changed
		}
	}
}

// Notify closes the channels that Changed has returned. Without such a channel it costs one atomic
// load.
func (b *Broadcast) Notify() {
	if b.waiting.Load() == nil {
		return
	}
	if waiting := b.waiting.Swap(nil); waiting != nil {
		close(*waiting)
	}
}
