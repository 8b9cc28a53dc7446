package api

import (
	"fmt"
	"net/http"
	"runtime/debug"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// recoverPanics answers a panic with a 500 and logs it once, with its stack.
// Where the answer had begun already, the connection is broken off, so that the
// client does not take half an answer for a whole one.
func (s *Server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := &response{ResponseWriter: w}
		defer func() {
			fault := recover()
			if fault == nil {
				return
			}
			if fault == http.ErrAbortHandler { //nolint:errorlint // a panic value, compared as net/http does
				panic(fault)
			}
			s.config.Logger.ErrorContext(r.Context(), "panic in a handler",
				"method", r.Method, "path", r.URL.Path, "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
			if response.status != 0 {
				panic(http.ErrAbortHandler)
			}
			response.Header().Del("Content-Encoding")
			text := "This request caused apiserver to panic. Look in the logs for details."
			s.writeError(response, r, apierrors.NewInternalError(fmt.Errorf("%s", text)))
		}()
		next.ServeHTTP(response, r)
	})
}
