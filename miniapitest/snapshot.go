package miniapitest

import (
	"context"
	"net/http"
	"testing"
)

// Snapshot is the state of all objects of a server at one moment. The host keeps it until the
// server ends.
type Snapshot struct {
	server *Server
	id     string
}

// Snapshot returns the present state of all objects.
func (s *Server) Snapshot(ctx context.Context) (*Snapshot, error) {
	var taken snapshotDescription
	if err := s.call(ctx, http.MethodPost, "/snapshots", nil, &taken); err != nil {
		return nil, err
	}
	return &Snapshot{server: s, id: taken.ID}, nil
}

// Restore brings all objects of the server to the state of the snapshot. Objects that differ are
// written or deleted, without admission, and finalizers are ignored. Each write has a new
// resourceVersion, so resourceVersions never decrease, and watches and informers see the changes as
// events. A write of a client during the call may be lost or may remain.
func (s *Snapshot) Restore(ctx context.Context) error {
	return s.server.call(ctx, http.MethodPost, "/snapshots/"+s.id+"/restore", nil, nil)
}

// Reset restores the state that the server had when Start returned, see Snapshot.Restore.
func (s *Server) Reset(ctx context.Context, options ResetOptions) error {
	return s.call(ctx, http.MethodPost, "/reset", options, nil)
}

// Fork returns a server with the present objects and the options of s. It is independent of s and
// ends with the test. ResourceVersions of s mean nothing to it. If the server cannot start, Fork
// calls t.Fatal, so it must be called on the goroutine of the test.
func (s *Server) Fork(t testing.TB) *Server {
	t.Helper()
	return startFor(t, s.options, s.options.fork(s), nil)
}

// fork returns the request for a fork.
func (o Options) fork(origin *Server) serverOptions {
	request := serverOptions{Fork: origin.description.ID, LogRequests: o.LogRequests}
	if o.LogLevel != nil {
		request.LogLevel = o.LogLevel.Level().String()
	}
	return request
}
