package fault

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// Compact compacts the whole history of etcd, during watches and paged lists.
type Compact struct{}

// Tolerated implements Fault.
func (Compact) Tolerated() bool { return true }

// Inject implements Fault.
func (Compact) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	_, err := s.Etcd.Compact(ctx, s.Observer.Observed())
	if errors.Is(err, rpctypes.ErrCompacted) { // a server has compacted more
		err = nil
	}
	return nothing, err
}
