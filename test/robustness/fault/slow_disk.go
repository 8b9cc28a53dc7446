package fault

import (
	"context"
	"time"
)

// SlowDisk delays each sync of the log and of the database of an embedded etcd by up to half a
// second, for up to two seconds.
type SlowDisk struct{}

// Tolerated implements Fault.
func (SlowDisk) Tolerated() bool { return false }

// Inject implements Fault.
func (SlowDisk) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	end, err := s.server().SlowDisk(time.Duration(s.Random.Int64N(int64(500 * time.Millisecond))))
	if err != nil {
		return nil, err
	}
	s.hold(ctx, 2*time.Second)
	return func(context.Context) error { return end() }, nil
}

// KillSlowServer kills a server with SIGKILL while its disk is slow, so that it ends in the middle
// of a sync.
type KillSlowServer struct{}

// Tolerated implements Fault.
func (KillSlowServer) Tolerated() bool { return false }

// Inject implements Fault.
func (KillSlowServer) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	server := s.server()
	end, err := server.SlowDisk(500 * time.Millisecond)
	if err != nil {
		return nil, err
	}
	s.hold(ctx, time.Second)
	server.Kill()
	return server.Restart, end()
}
