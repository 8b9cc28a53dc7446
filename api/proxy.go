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

	"github.com/miniapi/miniapi/registry"
)

// orProxy passes requests for the group versions of other servers on to those.
func (s *Server) orProxy(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		info := infoOf(r)
		remote, ok := s.config.Catalog.Snapshot().Remote(schema.GroupVersion{Group: info.Group, Version: info.Version})
		if !ok {
			next(w, r)
			return
		}
		s.proxy(w, r, remote)
	}
}

// proxy passes a request on to another server. Watches and upgraded connections may be open for
// hours; they end with this server. All other requests have a deadline.
func (s *Server) proxy(w http.ResponseWriter, r *http.Request, remote *registry.Remote) {
	if r.Header.Get("Upgrade") != "" {
		defer s.responder.LimitOnShutdown(http.NewResponseController(w).SetReadDeadline, finalReadTimeout)()
	}
	if infoOf(r).isLongRunning() {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.life.ending, cancel)()
		remote.Handler.ServeHTTP(w, r.WithContext(ctx))
		return
	}
	timeout, err := timeoutOf(r)
	if err != nil {
		s.responder.WriteError(w, r, err)
		return
	}
	limitWrites(w, timeout)
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	answer := &proxyResponse{
		response: &response{ResponseWriter: w},
		deadline: time.AfterFunc(timeout, func() { cancel(context.DeadlineExceeded) }),
	}
	defer answer.deadline.Stop()
	remote.Handler.ServeHTTP(answer, r.WithContext(ctx))
	if answer.status == 0 && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		s.responder.WriteError(w, r, apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0))
	}
}

// proxyResponse is the ResponseWriter of a request that has a deadline until its connection is
// upgraded.
type proxyResponse struct {
	*response
	deadline *time.Timer
}

// Hijack implements http.Hijacker.
func (w *proxyResponse) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.deadline.Stop()
	w.status = http.StatusSwitchingProtocols
	return http.NewResponseController(w.response).Hijack()
}
