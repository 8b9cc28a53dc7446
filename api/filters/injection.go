package filters

import (
	"bytes"
	"maps"
	"net/http"
	"time"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/request"
)

// Injector selects the failures to inject into requests.
type Injector interface {
	// Inject returns the failure for a request, nil for none.
	Inject(r *http.Request) *request.Injection
}

// WithInjection injects failures into requests. A nil injector injects none.
func WithInjection(injector Injector, responder *encoding.Responder) Filter {
	return func(next http.Handler) http.Handler {
		if injector == nil {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			injection := injector.Inject(r)
			if injection == nil {
				next.ServeHTTP(w, r)
				return
			}
			i := injected{injection, next, responder}
			i.serve(w, r)
		})
	}
}

// injected serves a request with a failure.
type injected struct {
	*request.Injection
	next      http.Handler
	responder *encoding.Responder
}

func (i *injected) serve(w http.ResponseWriter, r *http.Request) {
	i.wait(r)
	if i.Prepare != nil {
		if err := i.Prepare(r.Context()); err != nil {
			i.responder.WriteError(w, r, err)
			return
		}
	}
	switch {
	case i.AfterSuccess:
		i.serveThenFail(w, r)
	case i.Abort || i.Err != nil:
		i.fail(w, r)
	default:
		request.InfoFrom(r).Injection = i.Injection
		if i.Context != nil {
			r = r.WithContext(i.Context(r.Context()))
		}
		if i.MaxBytes > 0 {
			w = &truncatedResponse{ResponseWriter: w, left: i.MaxBytes}
		}
		i.next.ServeHTTP(w, r)
	}
}

// wait waits for the delay, or until the client gives up.
func (i *injected) wait(r *http.Request) {
	if i.Delay <= 0 {
		return
	}
	timer := time.NewTimer(i.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

func (i *injected) fail(w http.ResponseWriter, r *http.Request) {
	if i.Abort {
		panic(http.ErrAbortHandler)
	}
	i.responder.WriteError(w, r, i.Err)
}

func (i *injected) serveThenFail(w http.ResponseWriter, r *http.Request) {
	response := &bufferedResponse{header: w.Header().Clone()}
	i.next.ServeHTTP(response, r)
	if response.status < http.StatusMultipleChoices {
		i.fail(w, r)
		return
	}
	maps.Copy(w.Header(), response.header)
	w.WriteHeader(response.status)
	_, _ = w.Write(response.body.Bytes()) // the client may be gone
}

// bufferedResponse keeps a response in memory.
type bufferedResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (b *bufferedResponse) Header() http.Header { return b.header }

// WriteHeader implements http.ResponseWriter.
func (b *bufferedResponse) WriteHeader(status int) {
	if b.status == 0 {
		b.status = status
	}
}

// Write implements http.ResponseWriter.
func (b *bufferedResponse) Write(p []byte) (int, error) {
	b.WriteHeader(http.StatusOK)
	return b.body.Write(p)
}

// truncatedResponse closes the connection after a number of bytes.
type truncatedResponse struct {
	http.ResponseWriter
	left int64
}

// Write implements http.ResponseWriter.
func (t *truncatedResponse) Write(p []byte) (int, error) {
	if int64(len(p)) < t.left {
		t.left -= int64(len(p))
		return t.ResponseWriter.Write(p)
	}
	_, _ = t.ResponseWriter.Write(p[:t.left])
	_ = http.NewResponseController(t.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

// Unwrap returns the wrapped ResponseWriter, for http.ResponseController.
func (t *truncatedResponse) Unwrap() http.ResponseWriter { return t.ResponseWriter }
