package crd

import (
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/internal/webhooks"
)

// A conversion fails when its webhook has not answered within the timeout.
func TestConversionsHaveATimeout(t *testing.T) {
	silent := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices the end of the client only after the body
		<-r.Context().Done()
	}))
	defer silent.Close()
	clients := webhooks.NewClients(nil, nil, nil)
	defer clients.Close()
	w := newWebhook(clients, &apiextensionsv1.WebhookConversion{
		ConversionReviewVersions: []string{"v1"},
		ClientConfig: &apiextensionsv1.WebhookClientConfig{
			URL:      &silent.URL,
			CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: silent.Certificate().Raw}),
		},
	})
	if w.timeout != 30*time.Second {
		t.Errorf("the timeout is %v", w.timeout)
	}
	w.timeout = 50 * time.Millisecond
	object := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "spec": map[string]any{}}
	_, err := w.convert(t.Context(), object, "example.com/v2")
	const want = "conversion webhook for example.com/v1, Kind=Widget failed: "
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Code != http.StatusInternalServerError ||
		!strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "context deadline exceeded") {
		t.Errorf("got error %v", err)
	}
}
