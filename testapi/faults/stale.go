package faults

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/miniapi/miniapi/storage/stale"
	"github.com/miniapi/miniapi/versioner"
)

// hold is the revision of a stale effect. It is a stale.Hold.
type hold struct {
	ended <-chan struct{} // of the fault

	mu       sync.Mutex // guards the fields below
	revision int64
	changed  chan struct{} // closed and replaced when revision changes; nil: it never changes
}

// Revision implements stale.Hold.
func (h *hold) Revision() (revision int64, changed <-chan struct{}, held bool) {
	select {
	case <-h.ended:
		return 0, nil, false
	default:
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		return h.revision, h.ended, true
	}
	return h.revision, h.changed, true
}

// revisionTimeout limits the read of the present revision when a fault is added. Meanwhile no other
// fault can be added or removed.
const revisionTimeout = 5 * time.Second

// newHold returns the hold of a stale effect. ctx ends with the fault. With a lag it starts a
// goroutine, which ends with ctx.
func (a *Active) newHold(ctx context.Context) (stale.Hold, error) {
	effect, current := a.fault.Effect.Stale, a.set.config.Revision
	reading, cancel := context.WithTimeout(ctx, revisionTimeout)
	defer cancel()
	revision, err := current(reading)
	if err != nil {
		return nil, err
	}
	h := &hold{ended: a.ended, revision: revision}
	switch {
	case effect.Lag.Duration > 0:
		h.changed = make(chan struct{})
		l := lag{hold: h, lag: effect.Lag.Duration, current: current}
		go l.run(ctx) // ends with ctx
	case effect.ResourceVersion != "":
		past, err := versioner.APIObjectVersioner{}.ParseResourceVersion(effect.ResourceVersion)
		if err != nil || past > revision {
			return nil, fmt.Errorf("effect.stale.resourceVersion %s: the present revision is %d", effect.ResourceVersion, revision)
		}
		h.revision = past
	}
	return h, nil
}

// lag moves a hold along behind the present.
type lag struct {
	*hold
	lag     time.Duration
	current func(context.Context) (int64, error)
	samples []sample // the oldest first
}

// sample is the revision of the store at a time.
type sample struct {
	time     time.Time
	revision int64
}

const (
	// samplesPerLag is the precision of a lag. maxSampleInterval limits the interval of samples.
	samplesPerLag     = 20
	maxSampleInterval = 100 * time.Millisecond
)

func (l *lag) run(ctx context.Context) {
	ticks := time.NewTicker(max(time.Millisecond, min(l.lag/samplesPerLag, maxSampleInterval)))
	defer ticks.Stop()
	for {
		select {
		case <-l.ended:
			l.mu.Lock()
			close(l.changed)
			l.mu.Unlock()
			return
		case now := <-ticks.C:
			if revision, err := l.current(ctx); err == nil {
				l.samples = append(l.samples, sample{now, revision})
			}
			l.move(now.Add(-l.lag))
		}
	}
}

// move moves the hold to the latest sample that is not after a time.
func (l *lag) move(until time.Time) {
	reached := l.revision
	for len(l.samples) > 0 && !l.samples[0].time.After(until) {
		reached = l.samples[0].revision
		l.samples = l.samples[1:]
	}
	if reached == l.revision {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revision = reached
	close(l.changed)
	l.changed = make(chan struct{})
}
