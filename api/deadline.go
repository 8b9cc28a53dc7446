package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/api/encoding"
)

// requestTimeout bounds every request but watches and connections.
const requestTimeout = time.Minute

// limitTime gives the request a deadline: that of the client if it is earlier.
// From then on a client that does not take its answer is not waited for.
func (c *call) limitTime() (context.CancelFunc, error) {
	if c.verb == "watch" || c.verb == "connect" {
		return func() {}, nil
	}
	timeout, err := timeoutOf(c.r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), timeout)
	c.r = c.r.WithContext(ctx)
	limitWrites(c.w, timeout)
	return cancel, nil
}

// timeoutOf returns how long a request may take.
func timeoutOf(r *http.Request) (time.Duration, error) {
	text := r.URL.Query().Get("timeout")
	if text == "" {
		return requestTimeout, nil
	}
	asked, err := time.ParseDuration(text)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("invalid timeout specified in the request URL - %v", err))
	}
	if asked <= 0 {
		return requestTimeout, nil
	}
	return min(requestTimeout, asked), nil
}

// limitWrites ends the connection of a client that does not read its answer in time.
func limitWrites(w http.ResponseWriter, timeout time.Duration) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeout + encoding.FinalWriteTimeout))
}
