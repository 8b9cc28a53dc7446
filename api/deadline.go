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
	c.r = c.r.WithContext(ctx)
	limitWrites(c.w, timeout)
	return cancel, nil
}

// limitWrites closes the connection of a client that does not read its response in time.
func limitWrites(w http.ResponseWriter, timeout time.Duration) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeout + encoding.FinalWriteTimeout))
}
