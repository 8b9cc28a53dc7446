package controllers

import (
	"context"
	"sync"
)

// suspension lets Suspend end the controllers of Run for a while.
type suspension struct {
	// suspending is held from Suspend to the call of resume.
	suspending sync.Mutex

	mu sync.Mutex // guards the fields below
	// resumed is closed by resume. It is nil if the controllers are not suspended.
	resumed chan struct{}
	// cancel ends the running controllers, and ended is closed when they have ended. Both are nil
	// if no controller runs.
	cancel context.CancelFunc
	ended  chan struct{}
}

// Suspend ends the controllers and returns when they have ended. They start again with the complete
// state when resume is called. All their writes have ended, except writes with an unknown outcome,
// which etcd may still commit.
func (c *Controllers) Suspend() (resume func()) {
	s := &c.suspension
	s.suspending.Lock()
	s.mu.Lock()
	s.resumed = make(chan struct{})
	cancel, ended := s.cancel, s.ended
	s.mu.Unlock()
	if cancel != nil {
		cancel()
		<-ended
	}
	return func() {
		s.mu.Lock()
		close(s.resumed)
		s.resumed = nil
		s.mu.Unlock()
		s.suspending.Unlock()
	}
}

// begin returns a context for the controllers and a function that must be called when they have
// ended. If the controllers are suspended, it waits for the end of the suspension. It returns false
// if ctx has ended.
func (s *suspension) begin(ctx context.Context) (run context.Context, end func(), ok bool) {
	for ctx.Err() == nil {
		s.mu.Lock()
		resumed := s.resumed
		if resumed == nil {
			defer s.mu.Unlock()
			run, cancel := context.WithCancel(ctx)
			ended := make(chan struct{})
			s.cancel, s.ended = cancel, ended
			return run, func() {
				cancel()
				s.mu.Lock()
				s.cancel, s.ended = nil, nil
				s.mu.Unlock()
				close(ended)
			}, true
		}
		s.mu.Unlock()
		select {
		case <-resumed:
		case <-ctx.Done():
		}
	}
	return nil, nil, false
}
