package host

import (
	"errors"
	"fmt"
	"net/http"
)

// statusError is an error with the HTTP status code of its answer.
type statusError struct {
	code int
	err  error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// invalid marks an error in the options of a request. It returns nil for nil.
func invalid(err error) error {
	if err == nil {
		return nil
	}
	return &statusError{http.StatusUnprocessableEntity, err}
}

// notFound returns the error for a server that does not exist, or no longer.
func notFound(id string) error {
	return &statusError{http.StatusNotFound, fmt.Errorf("server %q not found", id)}
}

// full returns the error for a host that has its maximum of servers.
func full(servers int) error {
	return &statusError{http.StatusTooManyRequests, fmt.Errorf(
		"this host has %d servers, its maximum: stop servers that are no longer used, or start a host with a higher --max-servers", servers)}
}

// errClosed is returned for requests that a host receives while it ends.
var errClosed error = &statusError{http.StatusServiceUnavailable, errors.New("this host is ending: start another one")}

// codeOf returns the status code of an error.
func codeOf(err error) int {
	var status *statusError
	if errors.As(err, &status) {
		return status.code
	}
	return http.StatusInternalServerError
}
