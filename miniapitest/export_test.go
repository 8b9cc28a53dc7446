package miniapitest

import (
	"context"
	"net/http"
	"testing"
)

// HostPID returns the process of the host of the server.
func (s *Server) HostPID(t testing.TB) int {
	t.Helper()
	var info struct{ PID int }
	if err := s.host.call(context.Background(), http.MethodGet, "/v1", nil, &info); err != nil {
		t.Fatalf("%v", err)
	}
	return info.PID
}

// AwaitEnd returns when the server has ended.
func (s *Server) AwaitEnd() { <-s.done }

// CachedBinary returns the command of a version from the cache directory, where it is built first.
var CachedBinary = cachedBinary
