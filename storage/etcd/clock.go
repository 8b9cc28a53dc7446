package etcd

import "time"

// Clock is the time by which keys expire. Safe for concurrent use.
type Clock interface {
	Now() time.Time
	// Real reports whether the time has always been the time of the machine, by which etcd ends
	// leases.
	Real() bool
	// AfterFunc calls a function after a duration, unless stop is called before.
	AfterFunc(d time.Duration, call func()) (stop func())
}

// machineClock is the time of the machine. Its functions are not called: etcd ends leases.
type machineClock struct{}

// Now implements Clock.
func (machineClock) Now() time.Time { return time.Now() }

// Real implements Clock.
func (machineClock) Real() bool { return true }

// AfterFunc implements Clock.
func (machineClock) AfterFunc(time.Duration, func()) (stop func()) { return func() {} }
