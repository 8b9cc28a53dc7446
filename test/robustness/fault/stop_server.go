package fault

import "context"

// StopServer stops a server with SIGTERM, as in a rolling restart.
type StopServer struct{}

// Tolerated implements Fault.
func (StopServer) Tolerated() bool { return false }

// Inject implements Fault.
func (StopServer) Inject(_ context.Context, s *Site) (func(context.Context) error, error) {
	server := s.server()
	return server.Restart, server.Stop()
}
