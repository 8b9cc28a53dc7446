package miniapitest

import (
	"context"
	"net/http"
)

// checkKey is the key of contexts of FaultSuite's calls of converged.
type checkKey struct{}

func checkContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, checkKey{}, true)
}

// markChecks returns a transport that sends requests with a check context as another user, so that
// faults do not select them.
func markChecks(next http.RoundTripper) http.RoundTripper { return &checkTransport{next} }

type checkTransport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c *checkTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Context().Value(checkKey{}) != nil {
		r = r.Clone(r.Context())
		r.Header.Set("Impersonate-User", checkUser)
		r.Header.Set("Impersonate-Group", "system:masters")
	}
	return c.next.RoundTrip(r)
}

// WrappedRoundTripper returns the wrapped transport, for client-go, which closes its connections.
func (c *checkTransport) WrappedRoundTripper() http.RoundTripper { return c.next }
