package api

import (
	"errors"
	"net/http"
	"runtime/debug"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/api/encoding"
)

// recoverPanics answers a panic with a 500 and logs it once, with its stack.
// Where the answer had begun already, the connection is broken off, so that the
// client does not take half an answer for a whole one.
func (s *Server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := &response{ResponseWriter: w}
		defer func() {
			if fault := recover(); fault != nil {
				s.answerPanic(response, r, fault)
			}
		}()
		next.ServeHTTP(response, r)
	})
}

func (s *Server) answerPanic(w *response, r *http.Request, fault any) {
	if fault == http.ErrAbortHandler {
		panic(fault)
	}
	p, ok := fault.(*workPanic)
	if !ok {
		p = &workPanic{fault, debug.Stack()}
	}
	s.logPanic(r, p)
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	w.Header().Del("Content-Encoding")
	s.responder.WriteStatus(w, r, encoding.StatusOf(apierrors.NewInternalError(errors.New(panicText))))
}

func (s *Server) logPanic(r *http.Request, p *workPanic) {
	s.config.Logger.ErrorContext(r.Context(), "panic in a handler",
		"method", r.Method, "path", r.URL.Path, "panic", p.Error(), "stack", string(p.stack))
}

// panicText is all that a client learns of a panic.
const panicText = "the handler of this request panicked; the log of the server has the details"
