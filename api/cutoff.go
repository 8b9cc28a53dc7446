package api

import (
	"context"
	"time"
)

// How long a request may go on after the shutdown began while it waits for its
// client: to send the rest of a body, to take an event of a watch, to take the
// rest of a list.
const (
	lastRead  = 100 * time.Millisecond
	lastEvent = 100 * time.Millisecond
	lastItems = time.Second
)

// cutOnShutdown sees to it that a client which neither sends nor reads does not
// hold up a shutdown: reads from it, or writes to it, fail some time after that
// began. setDeadline is of the request's http.ResponseController. Nothing of it
// runs any more when the function it returns is through.
func (s *Server) cutOnShutdown(setDeadline func(time.Time) error, after time.Duration) (release func()) {
	finished := make(chan struct{})
	stop := context.AfterFunc(s.life.ending, func() {
		defer close(finished)
		// Where deadlines are not supported, the request waits until its
		// connection is closed.
		_ = setDeadline(time.Now().Add(after))
	})
	return func() {
		if !stop() {
			<-finished
		}
	}
}
