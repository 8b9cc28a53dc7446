package encoding

import (
	"context"
	"time"
)

// FinalWriteTimeout is the time that a client has to read the rest of a response after the deadline
// of its request, or after the shutdown began.
const FinalWriteTimeout = time.Second

// LimitOnShutdown sets a deadline for reads from or writes to a client when the shutdown begins, so
// that a client that neither sends nor reads does not delay the shutdown. setDeadline is a method
// of the request's http.ResponseController. The caller must call release, which returns when
// setDeadline is no longer used.
func (p *Responder) LimitOnShutdown(setDeadline func(time.Time) error, timeout time.Duration) (release func()) {
	finished := make(chan struct{})
	stop := context.AfterFunc(p.config.Shutdown, func() {
		defer close(finished)
		// Without support for deadlines the request lasts until its connection is closed.
		_ = setDeadline(time.Now().Add(timeout))
	})
	return func() {
		if !stop() {
			<-finished
		}
	}
}
