package api

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/filters"
	"github.com/miniapi/miniapi/api/request"
)

// orProxy returns a handler that forwards requests for the group versions of other servers and
// passes all others to next.
func (s *Server) orProxy(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		info := request.InfoFrom(r)
		remote, ok := s.remote(schema.GroupVersion{Group: info.Group, Version: info.Version})
		if !ok {
			next(w, r)
			return
		}
		s.proxy(w, r, remote)
	}
}

// remote returns the handler of a remote group version, and false for any other group version.
func (s *Server) remote(gv schema.GroupVersion) (http.Handler, bool) {
	if _, ok := s.config.Catalog.Snapshot().Remote(gv); !ok {
		return nil, false
	}
	return s.config.Remote(gv)
}

// proxy forwards a request to another server. Watches and upgraded connections may stay open for
// hours; they end with this server. All other requests have a deadline.
func (s *Server) proxy(w http.ResponseWriter, r *http.Request, remote http.Handler) {
	if r.Header.Get("Upgrade") != "" {
		defer s.responder.LimitOnShutdown(http.NewResponseController(w).SetReadDeadline, finalReadTimeout)()
	}
	if request.InfoFrom(r).IsLongRunning() {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.requests.Stopping(), cancel)()
		request.InfoFrom(r).SetForwarded()
		remote.ServeHTTP(w, r.WithContext(ctx))
		return
	}
	timeout, err := request.Timeout(r)
	if err != nil {
		s.responder.WriteError(w, r, err)
		return
	}
	limitWrites(w, timeout)
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	response := &proxyResponse{
		Recorder: &filters.Recorder{ResponseWriter: w},
		deadline: time.AfterFunc(timeout, func() { cancel(context.DeadlineExceeded) }),
	}
	defer response.deadline.Stop()
	r = r.WithContext(ctx)
	remote.ServeHTTP(response, r)
	s.countTermination(r)
	if response.Status == 0 && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		s.responder.WriteError(w, r, apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0))
	}
}

// proxyResponse is the ResponseWriter of a forwarded request. The deadline of the request ends
// when its connection is upgraded.
type proxyResponse struct {
	*filters.Recorder
	deadline *time.Timer
}

// Hijack implements http.Hijacker.
func (w *proxyResponse) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.deadline.Stop()
	return w.Recorder.Hijack()
}
