package filters

import "net/http"

// WithCacheControl sets the header Cache-Control of kube-apiserver. Handlers may replace it.
func WithCacheControl(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache, private")
		next.ServeHTTP(w, r)
	})
}
