package api

import (
	"cmp"
	"context"

	"github.com/miniapi/miniapi/api/filters"
	"github.com/miniapi/miniapi/registry"
)

// writeContext returns the context of a write. If the test APIs are on, it has the origin of the
// write for the journal.
func (c *call) writeContext() context.Context {
	ctx := c.r.Context()
	if c.server.config.TestAPIs == nil {
		return ctx
	}
	return registry.WithOrigin(ctx, &registry.Origin{
		Verb:            cmp.Or(c.writeVerb, c.verb),
		Subresource:     c.Subresource,
		UserAgent:       c.r.UserAgent(),
		FieldManager:    c.manager,
		ResourceVersion: c.sentVersion,
		RequestID:       c.w.Header().Get(filters.AuditIDHeader),
	})
}
