package fault

import (
	"context"
	"time"
)

// PauseLeader stops the threads of the leader of the etcd cluster for up to two seconds, during
// which the other members elect another leader.
type PauseLeader struct{}

// Tolerated implements Fault.
func (PauseLeader) Tolerated() bool { return false }

// Inject implements Fault.
func (PauseLeader) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	leader, err := s.Leader(ctx)
	if err != nil {
		return nil, err
	}
	if err := leader.Pause(); err != nil {
		return nil, err
	}
	s.hold(ctx, 2*time.Second)
	return func(context.Context) error { return leader.Resume() }, nil
}
