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

// ValidateSuite returns the error of the names in a suite.
func ValidateSuite(s FaultSuite) error { return s.validate() }

// Doubled returns the doubled writes of a run.
func Doubled(baseline, writes []Write) []string {
	return record{writes: writes}.doubled(record{writes: baseline})
}

// CollectionOf returns the resource and the list of the URI of a watch, "" for other URIs.
func CollectionOf(uri string) string {
	c, ok := parseCollection(uri)
	if !ok {
		return ""
	}
	return c.groupResource() + " " + c.uri()
}
