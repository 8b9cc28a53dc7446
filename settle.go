package miniapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/miniapi/miniapi/api/lifecycle"
)

// DefaultQuietTime is the quiet time of Settle.
const DefaultQuietTime = 20 * time.Millisecond

// errStopped is the error of a call that waits while the server stops.
var errStopped = errors.New("the server has stopped")

// Settle is SettleFor with DefaultQuietTime.
func (s *Server) Settle(ctx context.Context) error { return s.SettleFor(ctx, DefaultQuietTime) }

// SettleFor returns nil when the following has been true for the quiet time without interruption:
//
//   - No request is open, apart from watches. A request is open until its response is written. A
//     write that continues without its client counts too.
//   - Every watch has written all events up to the present revision of etcd to its connection. A
//     watch whose client does not read, or that an injected failure delays, has not.
//   - The built-in controllers have no work: no change to handle, and no object that is queued, is
//     being reconciled, or is retried after a conflict. An object that waits for a time does not
//     count: an expiry, a deadline, or the retry of another error.
//   - No write came, neither of a client nor of the server.
//
// A controller that receives an event and then computes has no request open meanwhile. The quiet
// time covers this gap, so it must be longer than the longest computation between an event and the
// next request of the controller. The same is true for the delays of its queue. Watches of the
// group miniapi.dev and of aggregated API servers are not awaited.
//
// When ctx ends, the error wraps the error of ctx and names the open requests, the watches that are
// behind, the work of the controllers, and the last write. An error of etcd ends the call, too.
func (s *Server) SettleFor(ctx context.Context, quiet time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.running, func() { cancel(errStopped) })()
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	for {
		a, err := s.unfinished(ctx, false)
		if s.running.Err() != nil {
			cancel(errStopped) // the end of the server ends its parts, maybe before ctx
		}
		if err != nil {
			return s.unsettled(ctx, cmp.Or(context.Cause(ctx), err), quiet)
		}
		var elapsed <-chan time.Time
		if a.none() {
			timer.Reset(quiet)
			elapsed = timer.C
		}
		select {
		case <-elapsed:
			if !a.changed() {
				return nil
			}
		case <-a.requestsChanged:
		case <-a.revisionChanged:
		case <-a.workChanged:
		case <-ctx.Done():
			return s.unsettled(ctx, context.Cause(ctx), quiet)
		}
	}
}

// unfinished is the work in progress at one time.
type unfinished struct {
	revision int64
	requests []lifecycle.OpenRequest
	watches  []lifecycle.LateWatch
	work     []string
	// Each channel is closed when its part may have changed.
	requestsChanged, revisionChanged, workChanged <-chan struct{}
	// written is set if a write came while the other parts were read.
	written bool
}

func (a *unfinished) none() bool {
	return len(a.requests)+len(a.watches)+len(a.work) == 0 && !a.written
}

// changed reports whether a part may have changed.
func (a *unfinished) changed() bool {
	select {
	case <-a.requestsChanged:
	case <-a.revisionChanged:
	case <-a.workChanged:
	default:
		return false
	}
	return true
}

// unfinished returns the work in progress. Unless it must be complete, it contains nothing but the
// requests while a request is open. The parts are read in the order of cause and effect: a request,
// its write, the events and the work that follow, and again the revision. So work that moves
// from one part to the next is not missed.
func (s *Server) unfinished(ctx context.Context, complete bool) (*unfinished, error) {
	tracker := s.api.Tracker()
	a := &unfinished{requestsChanged: tracker.Changed(), revisionChanged: s.datastore.Changed()}
	if a.requests = tracker.OpenCalls(); len(a.requests) > 0 && !complete {
		return a, nil
	}
	s.sync(ctx) // the kinds of CustomResourceDefinitions and APIServices
	var err error
	if a.revision, err = s.datastore.AwaitCurrent(ctx); err != nil {
		return a, err
	}
	a.watches = tracker.LateWatches(a.revision)
	a.work, a.workChanged = s.controllers.Pending(a.revision)
	revision, err := s.datastore.AwaitCurrent(ctx)
	a.written = revision != a.revision
	return a, err
}

// unsettled returns the error of Settle. It waits up to moment for the progress of watches.
func (s *Server) unsettled(ctx context.Context, cause error, moment time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), describeTimeout)
	defer cancel()
	elapsed := time.After(moment)
	a, err := s.unfinished(ctx, true)
	for waiting := true; waiting && err == nil && len(a.watches) > 0; {
		select {
		case <-a.requestsChanged:
			a, err = s.unfinished(ctx, true)
		case <-elapsed:
			waiting = false
		case <-ctx.Done():
			waiting = false
		}
	}
	return fmt.Errorf("the server has not settled: %w%s%s", cause, a, s.describeLastWrite(a.revision))
}

// String returns a line for each part, each after a line break.
func (a *unfinished) String() string {
	var text strings.Builder
	for _, r := range a.requests {
		fmt.Fprintf(&text, "\n\topen request: %v", r)
	}
	for _, w := range a.watches {
		fmt.Fprintf(&text, "\n\tlate watch: %v", w.OpenRequest)
		if w.Watch != nil {
			fmt.Fprintf(&text, ", sent up to revision %d of %d, %d changes wait", w.Watch.Revision(), a.revision, w.Watch.Backlog().Waiting)
		}
	}
	for _, work := range a.work {
		fmt.Fprintf(&text, "\n\tcontroller: %s", work)
	}
	return text.String()
}

// describeLastWrite returns a line, after a line break, about the last write.
func (s *Server) describeLastWrite(revision int64) string {
	w := s.testAPIs.LastWrite()
	if w == nil {
		return fmt.Sprintf("\n\tlast write: revision %d", revision)
	}
	by := w.User
	if w.UserAgent != "" {
		by = fmt.Sprintf("%q", w.UserAgent)
	}
	return fmt.Sprintf("\n\tlast write: revision %d, %s %v ago, %s by %s",
		w.Revision, w.Resource, time.Since(w.Time).Round(time.Millisecond), w.Key, by)
}
