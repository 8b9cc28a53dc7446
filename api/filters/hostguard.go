package filters

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/internal/loopback"
)

// WithHostGuard rejects requests that a web page could send through a browser to a server on a
// loopback address without TLS. After DNS rebinding the Host header names the page's host; in a
// cross-origin request the Origin header does. Over TLS neither attack works, because the page has
// no certificate for the name and no credentials.
func WithHostGuard(responder *encoding.Responder) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.TLS == nil && isOverLoopback(r) {
				if err := checkHost(r); err != nil {
					responder.WriteError(w, r, apierrors.NewForbidden(schema.GroupResource{}, "", err))
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// isOverLoopback reports whether the connection of r was made to a loopback address.
func isOverLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.IP.IsLoopback()
}

func checkHost(r *http.Request) error {
	if !isLocal(r.Host) {
		return fmt.Errorf("the Host header %q does not name this server", r.Host)
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || !isLocal(u.Host) {
			return fmt.Errorf("requests of the origin %q are not allowed", origin)
		}
	}
	return nil
}

// isLocal reports whether a host, with or without a port, names the loopback interface. The empty
// host does not: only HTTP/1.0 allows it in a Host header, and an opaque origin has none.
func isLocal(hostport string) bool {
	host := hostport
	if name, _, err := net.SplitHostPort(hostport); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	return loopback.IsHost(host) || strings.HasSuffix(host, ".localhost")
}
