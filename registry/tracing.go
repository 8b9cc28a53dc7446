package registry

import (
	"context"

	"github.com/miniapi/miniapi/internal/tracing"
)

// span begins the span of an operation.
func (b *base) span(ctx context.Context, operation string) (context.Context, tracing.End) {
	return tracing.Start(ctx, "registry "+operation, tracing.Resource(b.resource.GroupResource().String()))
}
