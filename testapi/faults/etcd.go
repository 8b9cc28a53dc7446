package faults

import (
	"context"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/storage/etcd"
)

// activeKey is the key of the *Active whose failure a context has. Nil: the context has none, also
// if a fault concerns the whole server.
type activeKey struct{}

// withoutFailure returns a context whose requests to etcd do not fail, for requests of the faults
// themselves.
func withoutFailure(ctx context.Context) context.Context {
	return context.WithValue(ctx, activeKey{}, (*Active)(nil))
}

// withFailure returns a context whose requests to etcd fail.
func (a *Active) withFailure(ctx context.Context) context.Context {
	return context.WithValue(ctx, activeKey{}, a)
}

// Failure returns the failure of a request to etcd, nil for none. It is an etcd.Config.Failure.
// Requests on behalf of no API request fail if a fault concerns the whole server.
func (s *Set) Failure(ctx context.Context) *etcd.Failure {
	active := s.active.Load()
	if active == nil {
		return nil
	}
	if a, ok := ctx.Value(activeKey{}).(*Active); ok {
		return a.failure()
	}
	if info := request.InfoOf(ctx); info != nil && info.Form == request.ResourcePath {
		return nil // Inject has not selected it
	}
	for _, a := range *active {
		if a.wholeServer && !a.hasEnded() {
			return a.failure()
		}
	}
	return nil
}

// failure returns the failure of a request to etcd, nil after the end of the fault and for nil.
func (a *Active) failure() *etcd.Failure {
	if a == nil || a.hasEnded() {
		return nil
	}
	e := a.fault.Effect.Etcd
	f := &etcd.Failure{Unavailable: e.Unavailable, NoSpace: e.NoSpace, Ended: a.ended}
	if e.Latency != nil {
		f.Delay = a.delay(e.Latency)
	}
	return f
}
