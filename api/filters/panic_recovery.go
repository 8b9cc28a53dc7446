package filters

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/api/encoding"
)

// panicText is the only text about a panic that a client receives.
const panicText = "the handler of this request panicked; the log of the server has the details"

// WithPanicRecovery answers a panic with a 500 and logs it once, with its stack. If the response
// has begun, it closes the connection, so that the client does not accept an incomplete response.
func WithPanicRecovery(logger *slog.Logger, responder *encoding.Responder) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			recorder := recorderOf(w)
			defer func() {
				value := recover()
				if value == nil {
					return
				}
				panicOf(value).Log(logger, r)
				if recorder.Status != 0 {
					panic(http.ErrAbortHandler)
				}
				w.Header().Del("Content-Encoding")
				responder.WriteStatus(recorder, r, encoding.StatusOf(apierrors.NewInternalError(errors.New(panicText))))
			}()
			next.ServeHTTP(recorder, r)
		})
	}
}

// Panic is a recovered panic with its stack. A handler that recovers a panic of another goroutine
// panics with it again, so that the log has the stack of that goroutine.
type Panic struct {
	value any
	stack []byte
}

// NewPanic returns a Panic with a recovered value and the stack of the calling goroutine.
func NewPanic(value any) *Panic { return &Panic{value, debug.Stack()} }

// panicOf returns value if it is a Panic, and otherwise a Panic with value. It repeats the panic
// that aborts a handler without a log entry.
func panicOf(value any) *Panic {
	if value == http.ErrAbortHandler {
		panic(value)
	}
	if p, ok := value.(*Panic); ok {
		return p
	}
	return NewPanic(value)
}

// Log logs the panic of the handler of r.
func (p *Panic) Log(logger *slog.Logger, r *http.Request) {
	logger.ErrorContext(r.Context(), "panic in a handler",
		"method", r.Method, "path", r.URL.Path, "panic", fmt.Sprint(p.value), "stack", string(p.stack))
}
