package request

import (
	"context"
	"time"
)

// Injection is a failure that is injected into one request, after its authorization. The zero value
// changes nothing.
type Injection struct {
	// Delay is the time before the request is handled.
	Delay time.Duration
	// Context returns the context of the handler. Nil: the context of the request.
	Context func(ctx context.Context) context.Context
	// Prepare is called after the delay. Its error is the response. Nil: nothing is called.
	Prepare func(ctx context.Context) error
	// Err is the response instead of the response of the handler.
	Err error
	// Abort closes the connection instead of a response.
	Abort bool
	// AfterSuccess applies Err or Abort after the handler has succeeded. If the handler fails, its
	// response is sent.
	AfterSuccess bool
	// MaxBytes closes the connection after so many bytes of the body. 0: no limit.
	MaxBytes int64
	// Event is called before an event of a watch is sent, bookmarks included, and may block until
	// ctx ends. It returns false to skip the event. An error ends the watch: io.EOF in an orderly
	// way, http.ErrAbortHandler by closing the connection, and all other errors with an event that
	// has them as Status. Nil: nothing is called.
	Event func(ctx context.Context, event WatchEvent) (send bool, err error)
}

// WatchEvent describes an event of a watch.
type WatchEvent struct {
	Bookmark bool
	// Initial is set for the initial events that the client has requested with sendInitialEvents,
	// and for the bookmark at their end.
	Initial bool
}
