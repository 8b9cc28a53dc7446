package filters

import (
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/internal/tracing"
)

// WithTracing begins a span for each request, below the span in the header traceparent. It does
// nothing if provider is nil.
func WithTracing(provider trace.TracerProvider) Filter {
	return func(next http.Handler) http.Handler {
		if provider == nil {
			return next
		}
		tracer := provider.Tracer(tracing.Scope)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info := request.InfoFrom(r)
			ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
			ctx, span := tracer.Start(ctx, "HTTP "+r.Method, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
				attribute.String("http.request.method", r.Method),
				attribute.String("url.path", r.URL.Path),
				attribute.String("verb", info.Verb),
				tracing.Resource(info.Resource),
				attribute.String("audit-id", w.Header().Get(AuditIDHeader)),
			))
			defer span.End()
			recorder := recorderOf(w)
			next.ServeHTTP(recorder, r.WithContext(ctx))
			span.SetAttributes(attribute.Int("http.response.status_code", max(recorder.Status, http.StatusOK)))
			if recorder.Status >= http.StatusInternalServerError {
				span.SetStatus(codes.Error, http.StatusText(recorder.Status))
			}
		})
	}
}
