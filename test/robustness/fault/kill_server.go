package fault

import "context"

// KillServer kills a server with SIGKILL. With an embedded etcd this also kills the etcd, at times
// in the middle of a commit.
type KillServer struct{}

// Tolerated implements Fault.
func (KillServer) Tolerated() bool { return false }

// Inject implements Fault.
func (KillServer) Inject(_ context.Context, s *Site) (func(context.Context) error, error) {
	server := s.server()
	server.Kill()
	return server.Restart, nil
}
