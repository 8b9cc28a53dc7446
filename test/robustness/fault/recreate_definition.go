package fault

import (
	"context"

	"github.com/miniapi/miniapi/test/robustness/verify"
)

// RecreateDefinition deletes the CustomResourceDefinition, and with it all objects, and creates it
// again.
type RecreateDefinition struct{}

// Tolerated implements Fault.
func (RecreateDefinition) Tolerated() bool { return false }

// Inject implements Fault.
func (RecreateDefinition) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	clients := s.Traffic.Clients[s.Random.IntN(len(s.Traffic.Clients))]
	before, err := verify.Revision(ctx, s.Etcd)
	if err != nil {
		return nil, err
	}
	if err := clients.DeleteDefinition(ctx); err != nil {
		return nil, err
	}
	after, err := verify.Revision(ctx, s.Etcd)
	if err != nil {
		return nil, err
	}
	s.Removals = append(s.Removals, verify.Interval{From: before, To: after})
	return clients.CreateDefinition, nil
}
