package api

import (
	"context"
	"net/http"
	"time"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/request"
)

// setDeadline sets the deadline of the request: its query parameter timeout, or request.MaxTimeout
// if that is shorter. It also bounds the time that the client has to read the response.
func (c *call) setDeadline() (context.CancelFunc, error) {
	if c.verb == "watch" || c.verb == "connect" {
		return func() {}, nil
	}
	timeout, err := request.Timeout(c.r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), timeout)
	r := c.r.WithContext(ctx)
	c.r = r
	limitWrites(c.w, timeout)
	return func() {
		c.server.countTermination(r)
		cancel()
	}, nil
}

// countTermination counts a request if it has ended because of its deadline, or, as in
// kube-apiserver, because its client has disconnected.
func (s *Server) countTermination(r *http.Request) {
	if r.Context().Err() != nil {
		s.metrics.Terminate(r, http.StatusGatewayTimeout)
	}
}

// limitWrites closes the connection of a client that does not read its response in time.
func limitWrites(w http.ResponseWriter, timeout time.Duration) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeout + encoding.FinalWriteTimeout))
}
