package fault

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/miniapi/miniapi/test/robustness/traffic"
)

// Compact compacts the whole history of etcd, during watches and paged lists.
type Compact struct{}

// Tolerated implements Fault.
func (Compact) Tolerated() bool { return true }

// Inject implements Fault.
func (Compact) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	revision := s.Observer.Observed()
	return nothing, traffic.Retry(ctx, func() error { // the leader of etcd may fail on a busy machine
		_, err := s.Etcd.Compact(ctx, revision)
		if errors.Is(err, rpctypes.ErrCompacted) { // a server has compacted more
			return nil
		}
		return err
	})
}
