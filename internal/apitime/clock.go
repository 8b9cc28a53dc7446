// Package apitime is the clock of the times in the API of a server: timestamps, expiries, deadlines
// and schedules. It can be advanced. Deadlines of requests, metrics and delays between retries use
// the time of the machine.
package apitime

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

// errNegative is returned by Advance.
var errNegative = errors.New("the time of a server cannot go back")

// Clock is the time of another clock, advanced by an offset. Safe for concurrent use.
type Clock struct {
	base   clock.Clock
	custom bool
	offset atomic.Int64
	// wake makes Run check the timers.
	wake chan struct{}

	firing sync.Mutex // serializes the calls of timers, and is locked before mu
	mu     sync.Mutex // guards the field below
	timers []*timer   // in the order of their times
}

type timer struct {
	at   time.Time
	call func()
}

// New returns a clock over base, nil for the clock of the machine. It starts nothing.
func New(base clock.Clock) *Clock {
	c := &Clock{base: base, custom: base != nil, wake: make(chan struct{}, 1)}
	if base == nil {
		c.base = clock.RealClock{}
	}
	return c
}

// Now returns the present time.
func (c *Clock) Now() time.Time { return c.base.Now().Add(time.Duration(c.offset.Load())) }

// Real reports whether the time has been the one of the machine since New.
func (c *Clock) Real() bool { return !c.custom && c.offset.Load() == 0 }

// Advanced returns how far the time was advanced.
func (c *Clock) Advanced() time.Duration { return time.Duration(c.offset.Load()) }

// Until returns the duration until a time.
func (c *Clock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// Advance advances the time, and returns after the calls of all timers that are due.
func (c *Clock) Advance(d time.Duration) error {
	if d < 0 {
		return errNegative
	}
	c.offset.Add(int64(d))
	c.fire()
	c.notify()
	return nil
}

// AfterFunc calls a function after a duration, unless stop is called before. Run and Advance make
// the calls one after the other, so the function must not block for long or call Advance.
func (c *Clock) AfterFunc(d time.Duration, call func()) (stop func()) {
	t := &timer{at: c.Now().Add(d), call: call}
	c.mu.Lock()
	i, _ := slices.BinarySearchFunc(c.timers, t, func(a, b *timer) int {
		if a.at.After(b.at) {
			return 1
		}
		return -1
	})
	c.timers = slices.Insert(c.timers, i, t)
	c.mu.Unlock()
	if i == 0 {
		c.notify()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.timers = slices.DeleteFunc(c.timers, func(other *timer) bool { return other == t })
	}
}

// Run calls the functions of timers until ctx ends, and returns nil then.
func (c *Clock) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		c.fire()
		var due <-chan time.Time
		var pending clock.Timer
		if left, ok := c.next(); ok {
			pending = c.base.NewTimer(left)
			due = pending.C()
		}
		select {
		case <-due:
		case <-c.wake:
		case <-ctx.Done():
		}
		if pending != nil {
			pending.Stop()
		}
	}
	return nil
}

// next returns the time until the first timer is due.
func (c *Clock) next() (left time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 {
		return 0, false
	}
	return c.Until(c.timers[0].at), true
}

// fire calls the functions of the timers that are due, after the calls in progress.
func (c *Clock) fire() {
	c.firing.Lock()
	defer c.firing.Unlock()
	for {
		c.mu.Lock()
		if len(c.timers) == 0 || c.timers[0].at.After(c.Now()) {
			c.mu.Unlock()
			return
		}
		due := c.timers[0]
		c.timers = slices.Delete(c.timers, 0, 1)
		c.mu.Unlock()
		due.call()
	}
}

func (c *Clock) notify() {
	select {
	case c.wake <- struct{}{}:
	default: // Run has not read the last value
	}
}
