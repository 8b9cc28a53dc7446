package api

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// OpenRequest is a request that has not been answered to its end.
type OpenRequest struct {
	// Verb is that of authorization, such as watch, list or create; the method
	// in lower case where the path names no resource.
	Verb   string
	Method string
	// URI is path and query as the client sent them.
	URI       string
	UserAgent string
	Since     time.Time
}

// String tells what is needed to find the client.
func (o OpenRequest) String() string {
	return fmt.Sprintf("%s: %s %s by %q, open for %v",
		o.Verb, o.Method, o.URI, o.UserAgent, time.Since(o.Since).Round(time.Millisecond))
}

// OpenRequests returns the requests that are being answered, watches among
// them, in the order in which they came.
func (s *Server) OpenRequests() []OpenRequest { return s.life.openRequests() }

// AwaitIdle returns as soon as no request is open, or else with the error of
// ctx.
func (s *Server) AwaitIdle(ctx context.Context) error { return s.life.awaitIdle(ctx) }

func (l *lifecycle) openRequests() []OpenRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	var open []OpenRequest
	for f := l.open.root.next; f != l.open.root; f = f.next {
		open = append(open, f.describe())
	}
	return open
}

// flight is a request in flight and a link of a ring, so that taking it in or
// out costs no more than this one allocation.
type flight struct {
	request    *http.Request
	userAgent  string // a copy: the headers are the handlers' to change
	since      time.Time
	prev, next *flight
}

func newFlight(r *http.Request) *flight {
	return &flight{request: r, userAgent: r.UserAgent(), since: time.Now()}
}

func (f *flight) describe() OpenRequest {
	return OpenRequest{
		Verb: infoOf(f.request).Verb, Method: f.request.Method, URI: f.request.RequestURI,
		UserAgent: f.userAgent, Since: f.since,
	}
}

func (f *flight) remove() { f.prev.next, f.next.prev = f.next, f.prev }

// ring is a circular list of flights, the newest last.
type ring struct {
	root *flight // stands between the last and the first, and for no request
}

func newRing() ring {
	root := &flight{}
	root.prev, root.next = root, root
	return ring{root}
}

func (l ring) empty() bool { return l.root.next == l.root }

func (l ring) add(f *flight) {
	f.prev, f.next = l.root.prev, l.root
	f.prev.next, f.next.prev = f, f
}
