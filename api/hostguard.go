package api

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/loopback"
)

// guardHost refuses requests which a web page could have sent to a server that
// listens on loopback only: by DNS rebinding the Host header carries a foreign
// name, by a request across origins the Origin header does. Over TLS neither
// gets anywhere: a page has no certificate for the name, and no credentials.
func (s *Server) guardHost(next http.Handler) http.Handler {
	allowed := hostList(s.config.AllowedHosts)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil && cameOverLoopback(r) {
			if err := allowed.check(r); err != nil {
				s.responder.WriteError(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func cameOverLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.IP.IsLoopback()
}

// hostList is a list of names that are allowed besides loopback's own.
type hostList []string

func (l hostList) check(r *http.Request) error {
	if !l.allows(r.Host) {
		return refused(fmt.Errorf("the Host header %q does not name this server", r.Host))
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || !l.allows(u.Host) {
			return refused(fmt.Errorf("requests of the origin %q are not allowed", origin))
		}
	}
	return nil
}

func refused(reason error) error {
	return apierrors.NewForbidden(schema.GroupResource{}, "", reason)
}

// allows tells whether a host, with or without a port, may be named. The empty
// one may not: only HTTP/1.0 leaves it out, and an opaque origin has none.
func (l hostList) allows(hostport string) bool {
	host := hostport
	if name, _, err := net.SplitHostPort(hostport); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	return loopback.IsHost(host) || strings.HasSuffix(host, ".localhost") ||
		slices.Contains(l, "*") || slices.Contains(l, host)
}
