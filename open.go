package miniapi

import (
	"context"

	"github.com/miniapi/miniapi/api/lifecycle"
)

// OpenRequest is a request that has not been answered to its end.
type OpenRequest = lifecycle.OpenRequest

// OpenRequests returns the requests that are being answered, watches among
// them, in the order in which they came: at the end of a test, those of clients
// that were not stopped.
func (s *Server) OpenRequests() []OpenRequest { return s.api.OpenRequests() }

// AwaitIdle returns as soon as no request is open, or else with the error of
// ctx. The server notices a moment later that a client has gone away, and a
// watch with it.
func (s *Server) AwaitIdle(ctx context.Context) error { return s.api.AwaitIdle(ctx) }
