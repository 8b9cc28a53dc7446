package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// requestTimeout bounds every request but watches and connections.
const requestTimeout = time.Minute

// limitTime gives the request a deadline: that of the client if it is earlier.
// From then on a client that does not take its answer is not waited for.
func (c *call) limitTime() (context.CancelFunc, error) {
	if c.verb == "watch" || c.verb == "connect" {
		return func() {}, nil
	}
	timeout := requestTimeout
	if text := c.r.URL.Query().Get("timeout"); text != "" {
		asked, err := time.ParseDuration(text)
		if err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("invalid timeout specified in the request URL - %v", err))
		}
		if asked > 0 {
			timeout = min(timeout, asked)
		}
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), timeout)
	c.r = c.r.WithContext(ctx)
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(timeout + lastItems))
	return cancel, nil
}
