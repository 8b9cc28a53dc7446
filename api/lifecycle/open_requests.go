package lifecycle

import (
	"fmt"
	"net/http"
	"time"

	"github.com/miniapi/miniapi/api/request"
)

// OpenRequest describes a request that is not answered completely.
type OpenRequest struct {
	// Verb is the verb of authorization, such as watch, list or create. If the path names no
	// resource it is the method in lower case.
	Verb   string
	Method string
	// URI is the path and the query as the client sent them.
	URI       string
	UserAgent string
	Since     time.Time
}

// String returns a line that identifies the client and its request.
func (o OpenRequest) String() string {
	return fmt.Sprintf("%s: %s %s by %q, open for %v",
		o.Verb, o.Method, o.URI, o.UserAgent, time.Since(o.Since).Round(time.Millisecond))
}

// OpenRequests returns the open requests, including watches, oldest first.
func (t *Tracker) OpenRequests() []OpenRequest {
	var open []OpenRequest
	t.each(func(r *Request, _ *request.Info) { open = append(open, r.describe()) })
	return open
}

// Request is a tracked request. It is an element of a list, so that tracking costs a single
// allocation.
type Request struct {
	request    *http.Request
	number     int64
	userAgent  string // copied, because handlers may change the headers
	since      time.Time
	prev, next *Request
}

func newRequest(r *http.Request) *Request {
	return &Request{request: r, userAgent: r.UserAgent(), since: time.Now()}
}

func (r *Request) describe() OpenRequest {
	return OpenRequest{
		Verb: request.InfoFrom(r.request).Verb, Method: r.request.Method, URI: r.request.RequestURI,
		UserAgent: r.userAgent, Since: r.since,
	}
}

func (r *Request) unlink() { r.prev.next, r.next.prev = r.next, r.prev }

// list is a circular doubly linked list, the newest request last.
type list struct {
	// root is the sentinel between the last element and the first. Its number is the number of
	// requests that were ever added.
	root *Request
}

func newList() list {
	root := &Request{}
	root.prev, root.next = root, root
	return list{root}
}

func (l list) empty() bool { return l.root.next == l.root }

func (l list) add(r *Request) {
	r.number = l.root.number + 1
	l.root.number = r.number

	r.prev, r.next = l.root.prev, l.root
	r.prev.next, r.next.prev = r, r
}
