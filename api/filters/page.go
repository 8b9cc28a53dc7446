package filters

import (
	"net/http"
	"strings"
)

// WithPage serves the page at a path, and below it, without authentication: its files are the same
// for all servers and contain no data, and a browser cannot send a bearer token with an address
// that a user opens. The requests of the page are authenticated and authorized. It does nothing if
// the handler is nil.
func WithPage(path string, page http.Handler) Filter {
	return func(next http.Handler) http.Handler {
		if page == nil {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == path || strings.HasPrefix(r.URL.Path, path+"/") {
				page.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}
