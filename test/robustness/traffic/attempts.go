package traffic

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxAttempts is the number of attempts that an informer's trace keeps.
const maxAttempts = 12

// attempts is a trace of the last requests of an informer. It distinguishes a server that answers
// late from a client that waits before it sends another request.
type attempts struct {
	http.RoundTripper

	mu   sync.Mutex // guards last
	last []*attempt
}

// attempt is one request. The fields after start are set when they are known.
type attempt struct {
	start         time.Time
	query, result string
	answered, end time.Time // of the header and of the body
}

func (a *attempts) wrap(next http.RoundTripper) http.RoundTripper {
	a.RoundTripper = withoutRetries{next}
	return a
}

// RoundTrip implements http.RoundTripper.
func (a *attempts) RoundTrip(req *http.Request) (*http.Response, error) {
	current := &attempt{start: time.Now(), query: req.URL.RawQuery}
	a.mu.Lock()
	a.last = append(a.last, current)
	a.last = a.last[max(0, len(a.last)-maxAttempts):]
	a.mu.Unlock()
	resp, err := a.RoundTripper.RoundTrip(req)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		current.result, current.end = err.Error(), time.Now()
		return resp, err
	}
	current.result, current.answered = resp.Status, time.Now()
	resp.Body = &attemptBody{ReadCloser: resp.Body, attempts: a, attempt: current}
	return resp, nil
}

// attemptBody records the end of a body.
type attemptBody struct {
	io.ReadCloser
	*attempts
	*attempt
}

// Read implements io.Reader.
func (b *attemptBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.ended(err.Error())
	}
	return n, err
}

// Close implements io.Closer.
func (b *attemptBody) Close() error {
	b.ended("closed by the client")
	return b.ReadCloser.Close()
}

func (b *attemptBody) ended(reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end.IsZero() {
		b.end, b.result = time.Now(), b.result+", "+reason
	}
}

// open reports whether a request is open.
func (a *attempts) open() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.last) > 0 && a.last[len(a.last)-1].end.IsZero()
}

// String returns the attempts, with times before now.
func (a *attempts) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var text strings.Builder
	for _, one := range a.last {
		fmt.Fprintf(&text, "%s: sent %s ago", one.query, ago(one.start))
		if !one.answered.IsZero() {
			fmt.Fprintf(&text, ", answered %s ago", ago(one.answered))
		}
		if !one.end.IsZero() {
			fmt.Fprintf(&text, ", ended %s ago", ago(one.end))
		}
		fmt.Fprintf(&text, ": %s\n", one.result)
	}
	return text.String()
}

func ago(t time.Time) time.Duration { return time.Since(t).Round(time.Millisecond) }
