package filters

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/miniapi/miniapi/api/request"
)

// WithRequestInfo stores the request.Info of a request in its context. Later filters and handlers
// see only the decoded path, so that an encoded slash separates segments for all of them.
//
// namespaceSubresources are the added subresources of request.ParseTarget.
func WithRequestInfo(namespaceSubresources ...string) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info := request.NewInfo(r, namespaceSubresources...)
			if info.Form == request.IncompletePath {
				text := fmt.Sprintf("Internal Server Error: %q: failed to create RequestInfo: unable to determine kind and namespace from url, %v", r.RequestURI, r.URL)
				http.Error(w, escapeHTML.Replace(text), http.StatusInternalServerError)
				return
			}
			r = r.WithContext(request.WithInfo(r.Context(), info))
			if r.URL.RawPath != "" {
				decoded := *r.URL
				decoded.RawPath = ""
				r.URL = &decoded
			}
			next.ServeHTTP(w, r)
		})
	}
}

var escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
