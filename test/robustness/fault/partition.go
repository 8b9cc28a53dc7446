package fault

import (
	"context"
	"time"

	"github.com/miniapi/miniapi/test/robustness/cluster"
)

// PartitionLeader separates the leader from the other members of the etcd cluster for up to two
// seconds. Servers still reach all members.
type PartitionLeader struct{}

// Tolerated implements Fault.
func (PartitionLeader) Tolerated() bool { return false }

// Inject implements Fault.
func (PartitionLeader) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	leader, err := s.Leader(ctx)
	if err != nil {
		return nil, err
	}
	return isolate(ctx, s, leader), nil
}

// PartitionFollower separates a follower from the other members of the etcd cluster for up to two
// seconds. Servers still reach all members.
type PartitionFollower struct{}

// Tolerated implements Fault.
func (PartitionFollower) Tolerated() bool { return false }

// Inject implements Fault.
func (PartitionFollower) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	follower, err := s.follower(ctx)
	if err != nil {
		return nil, err
	}
	return isolate(ctx, s, follower), nil
}

func isolate(ctx context.Context, s *Site, m *cluster.Member) func(context.Context) error {
	restore := s.Isolate(m)
	s.hold(ctx, 2*time.Second)
	return func(context.Context) error {
		restore()
		return nil
	}
}
