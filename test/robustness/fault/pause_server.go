package fault

import (
	"context"
	"time"
)

// PauseServer stops the threads of a server for up to a second. Of two replicas, the paused one
// lags behind: it answers from a state that it believes to be current.
type PauseServer struct{}

// Tolerated implements Fault.
func (PauseServer) Tolerated() bool { return false }

// Inject implements Fault.
func (PauseServer) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	server := s.server()
	if err := server.Pause(); err != nil {
		return nil, err
	}
	s.hold(ctx, time.Second)
	return func(context.Context) error { return server.Resume() }, nil
}
