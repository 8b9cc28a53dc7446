package fault

import "context"

// KillLeader kills the leader of the etcd cluster with SIGKILL.
type KillLeader struct{}

// Tolerated implements Fault.
func (KillLeader) Tolerated() bool { return true }

// Inject implements Fault.
func (KillLeader) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	leader, err := s.Leader(ctx)
	if err != nil {
		return nil, err
	}
	leader.Kill()
	return leader.Restart, nil
}
