package stale

import "context"

// Hold is the revision at which the answers of a cache are held. It is safe for concurrent use.
type Hold interface {
	// Revision returns the revision, which never decreases, and a channel that is closed when it
	// may have increased. If held is false, the hold has ended.
	Revision() (revision int64, changed <-chan struct{}, held bool)
}

type holdKey struct{}

// WithHold returns a context whose reads are held.
func WithHold(ctx context.Context, hold Hold) context.Context {
	return context.WithValue(ctx, holdKey{}, hold)
}

// holdFrom returns the hold of a context and its revision, nil if the context has none or the hold
// has ended.
func holdFrom(ctx context.Context) (hold Hold, revision int64) {
	hold, ok := ctx.Value(holdKey{}).(Hold)
	if !ok {
		return nil, 0
	}
	revision, _, held := hold.Revision()
	if !held {
		return nil, 0
	}
	return hold, revision
}
