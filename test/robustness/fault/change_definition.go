package fault

import (
	"context"
	"fmt"
)

// ChangeDefinition adds a property to the schema of the CustomResourceDefinition.
type ChangeDefinition struct{}

// Tolerated implements Fault.
func (ChangeDefinition) Tolerated() bool { return true }

// Inject implements Fault.
func (ChangeDefinition) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	clients := s.Traffic.Clients[s.Random.IntN(len(s.Traffic.Clients))]
	return nothing, clients.ChangeDefinition(ctx, fmt.Sprintf("added%d", s.Random.Uint32()))
}
