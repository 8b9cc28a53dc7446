package host

import (
	"sync"
	"time"
)

// idleTimer fires when its owner has had no user for the timeout.
type idleTimer struct {
	timeout time.Duration // negative: never
	timer   *time.Timer

	mu    sync.Mutex // guards users
	users int
}

func newIdleTimer(timeout time.Duration) *idleTimer {
	t := &idleTimer{timeout: timeout, timer: time.NewTimer(max(timeout, 0))}
	if timeout < 0 {
		t.timer.Stop()
	}
	return t
}

// add counts a user, which stops the timer.
func (t *idleTimer) add() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users++
	t.timer.Stop()
}

// remove undoes an add. The timer starts again after the last user.
func (t *idleTimer) remove() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users--
	if t.users == 0 && t.timeout >= 0 {
		t.timer.Reset(t.timeout)
	}
}

// busy reports whether there is a user.
func (t *idleTimer) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.users > 0
}

// expired delivers a value when the timer fires. A user may have come since.
func (t *idleTimer) expired() <-chan time.Time { return t.timer.C }
