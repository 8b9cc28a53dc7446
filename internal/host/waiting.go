package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/miniapi/miniapi"
)

// defaultWait is the time that a request to wait may take by default.
const defaultWait = 30 * time.Second

// SettleOptions is the body of POST /v1/servers/{id}/settle. Both fields are durations such as
// 100ms.
type SettleOptions struct {
	// Quiet is the time without activity. Default: 20ms.
	Quiet string `json:"quiet,omitempty"`
	// Timeout is the time after which the answer is an error. Default: 30s.
	Timeout string `json:"timeout,omitempty"`
}

// awaitQuiet handles POST /v1/servers/{id}/settle.
func (s *server) awaitQuiet(r *http.Request) (any, error) {
	var options SettleOptions
	if err := decode(r, &options); err != nil {
		return nil, err
	}
	quiet, err := duration("quiet", options.Quiet, miniapi.DefaultQuietTime)
	if err != nil {
		return nil, err
	}
	return nil, within(r, options.Timeout, func(ctx context.Context) error { return s.running.SettleFor(ctx, quiet) })
}

// WaitOptions is the body of POST /v1/servers/{id}/wait. Exactly one of Condition and Deleted is
// set.
type WaitOptions struct {
	// Object is TYPE/NAME or TYPE/NAMESPACE/NAME, such as deploy/web.
	Object string `json:"object"`
	// Condition is a CEL expression with the variable object.
	Condition string `json:"condition,omitempty"`
	// Deleted waits until the object does not exist.
	Deleted bool `json:"deleted,omitempty"`
	// Timeout is the time after which the answer is an error, such as 10s. Default: 30s.
	Timeout string `json:"timeout,omitempty"`
}

// wait handles POST /v1/servers/{id}/wait.
func (s *server) wait(r *http.Request) (any, error) {
	var options WaitOptions
	if err := decode(r, &options); err != nil {
		return nil, err
	}
	if (options.Condition != "") == options.Deleted {
		return nil, invalid(errors.New("set either condition or deleted"))
	}
	err := within(r, options.Timeout, func(ctx context.Context) error {
		if options.Deleted {
			return s.running.WaitForDeletion(ctx, options.Object)
		}
		return s.running.WaitFor(ctx, options.Object, options.Condition)
	})
	return nil, err
}

// within calls wait with a context that ends after a timeout, which clients send as a text.
func within(r *http.Request, text string, wait func(context.Context) error) error {
	timeout, err := duration("timeout", text, defaultWait)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	err = wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return &statusError{http.StatusGatewayTimeout, err}
	}
	return invalid(err)
}

// duration parses a positive duration. An empty text is the default.
func duration(field, text string, byDefault time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(cmp.Or(text, byDefault.String()))
	if err == nil && d <= 0 {
		err = errors.New("it must be positive")
	}
	if err != nil {
		return 0, invalid(fmt.Errorf("%s %q: %w", field, text, err))
	}
	return d, nil
}
