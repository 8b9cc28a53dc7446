package registry

import "context"

// Origin describes the client request behind a write, for the journal of writes. Writes of the
// server itself have none.
type Origin struct {
	// Verb is the verb of authorization, or apply for a server-side apply.
	Verb        string
	Subresource string
	UserAgent   string
	// FieldManager is the manager of the changed fields, "" for a deletion.
	FieldManager string
	// ResourceVersion is the resourceVersion that the client sent, "" for none.
	ResourceVersion string
	// RequestID is the header Audit-Id of the request.
	RequestID string
}

// WithOrigin returns a context with the origin of the writes in it.
func WithOrigin(ctx context.Context, origin *Origin) context.Context {
	return context.WithValue(ctx, originKey, origin)
}

// OriginFrom returns the origin of a write, nil if there is none.
func OriginFrom(ctx context.Context) *Origin {
	origin, _ := ctx.Value(originKey).(*Origin)
	return origin
}
