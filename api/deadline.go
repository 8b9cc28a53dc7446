package api

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// requestTimeout bounds every request but watches and connections.
const requestTimeout = time.Minute

// limitTime gives the request a deadline: that of the client if it is earlier.
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
	return cancel, nil
}
