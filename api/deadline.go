package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/api/encoding"
)

// requestTimeout bounds every request except watches and connections.
const requestTimeout = time.Minute

// setDeadline sets the deadline of the request: its query parameter timeout, or requestTimeout if
// that is shorter. It also bounds the time that the client has to read the response.
func (c *call) setDeadline() (context.CancelFunc, error) {
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

// timeoutOf returns the time that a request may take.
func timeoutOf(r *http.Request) (time.Duration, error) {
	text := r.URL.Query().Get("timeout")
	if text == "" {
		return requestTimeout, nil
	}
	timeout, err := time.ParseDuration(text)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("invalid timeout specified in the request URL - %v", err))
	}
	if timeout <= 0 {
		return requestTimeout, nil
	}
	return min(requestTimeout, timeout), nil
}

// limitWrites closes the connection of a client that does not read its response in time.
func limitWrites(w http.ResponseWriter, timeout time.Duration) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeout + encoding.FinalWriteTimeout))
}
