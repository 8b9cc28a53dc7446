package aggregator

import (
	"context"
	"net/http/httptest"
	"testing"

	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/miniapi/miniapi/registry"
)

// A request whose deadline passes before the address of the other server is known is left to the
// caller of the proxy, which answers with a timeout.
func TestDeadlineBeforeTheAddressIsKnown(t *testing.T) {
	s := &server{
		Aggregator: New(Config{Catalog: registry.NewCatalog(registry.CatalogConfig{})}), // has no Services
		service: &apiregistrationv1.APIService{Spec: apiregistrationv1.APIServiceSpec{
			Service: &apiregistrationv1.ServiceReference{Namespace: "default", Name: "a"},
		}},
	}
	for cause, want := range map[error]string{context.Canceled: "service unavailable\n", context.DeadlineExceeded: ""} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, "GET", "/apis/a/v1/b", nil))
		if got := answer.Body.String(); got != want {
			t.Errorf("%v: got %q, want %q", cause, got, want)
		}
	}
}
