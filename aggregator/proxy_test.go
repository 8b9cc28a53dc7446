package aggregator

import (
	"context"
	"net/http"
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

// A server can answer because the proxy closes the connection at the deadline.
func TestAnswersAfterTheDeadlineAreRefused(t *testing.T) {
	for cause, want := range map[error]error{context.Canceled: nil, context.DeadlineExceeded: context.DeadlineExceeded} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		request := httptest.NewRequestWithContext(ctx, "GET", "/apis/a/v1/b", nil)
		if err := refuse(&http.Response{StatusCode: http.StatusOK, Request: request}); err != want {
			t.Errorf("%v: got error %v, want %v", cause, err, want)
		}
	}
}
