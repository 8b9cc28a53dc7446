package fault

import (
	"context"
	"time"
)

// PauseFollower stops the threads of a follower of the etcd cluster for up to a second.
type PauseFollower struct{}

// Tolerated implements Fault.
func (PauseFollower) Tolerated() bool { return false }

// Inject implements Fault.
func (PauseFollower) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	follower, err := s.follower(ctx)
	if err != nil {
		return nil, err
	}
	if err := follower.Pause(); err != nil {
		return nil, err
	}
	s.hold(ctx, time.Second)
	return func(context.Context) error { return follower.Resume() }, nil
}
