package fault

import (
	"context"
	"time"
)

// CutServer separates a server from all members of the etcd cluster for up to two seconds. Its
// clients still reach it.
type CutServer struct{}

// Tolerated implements Fault.
func (CutServer) Tolerated() bool { return false }

// Inject implements Fault.
func (CutServer) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	restore := s.server().CutFromEtcd()
	s.hold(ctx, 2*time.Second)
	return func(context.Context) error {
		restore()
		return nil
	}, nil
}
