package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Scope is the name of the instrumentation.
const Scope = "github.com/miniapi/miniapi"

// End ends a span. It records *err, unless that is nil.
type End func(err *error)

// Start begins a span below the one in ctx. name is LAYER OPERATION, such as "etcd Txn". The caller
// must call End. Without a sampled span in ctx, Start returns ctx.
func Start(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, End) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, func(*error) {}
	}
	ctx, span := parent.TracerProvider().Tracer(Scope).Start(ctx, name, trace.WithAttributes(attributes...))
	return ctx, func(err *error) {
		if err != nil && *err != nil {
			span.RecordError(*err)
			span.SetStatus(codes.Error, (*err).Error())
		}
		span.End()
	}
}

// Resource returns the attribute that names a resource.
func Resource(name string) attribute.KeyValue { return attribute.String("resource", name) }
