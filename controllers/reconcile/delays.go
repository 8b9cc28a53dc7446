package reconcile

import (
	"sync"
	"time"

	"github.com/miniapi/miniapi/internal/apitime"
)

// delays holds the keys of a queue that wait for a time. The zero value is empty.
type delays struct {
	mu      sync.Mutex // guards the fields below
	ended   bool
	waiting map[string]*delay
}

type delay struct {
	at   time.Time
	stop func()
}

// add calls a function after a duration, unless the key waits for an earlier time. It does nothing
// after end.
func (d *delays) add(clock *apitime.Clock, key string, after time.Duration, call func()) {
	if after <= 0 {
		call()
		return
	}
	next := &delay{at: clock.Now().Add(after)}
	d.mu.Lock()
	defer d.mu.Unlock()
	current := d.waiting[key]
	if d.ended || current != nil && !next.at.Before(current.at) {
		return
	}
	if current != nil {
		current.stop()
	}
	if d.waiting == nil {
		d.waiting = map[string]*delay{}
	}
	d.waiting[key] = next
	next.stop = clock.AfterFunc(after, func() {
		if d.remove(key, next) {
			call()
		}
	})
}

// remove removes a delay, and reports whether it was not replaced by another one.
func (d *delays) remove(key string, ended *delay) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting[key] != ended {
		return false
	}
	delete(d.waiting, key)
	return true
}

// end removes all delays.
func (d *delays) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, delay := range d.waiting {
		delay.stop()
	}
	d.ended, d.waiting = true, nil
}
