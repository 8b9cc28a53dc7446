// Package servertest starts servers for tests, and has clients and checks for them.
package servertest

import (
	"context"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
)

// stopTimeout is for slow machines: a server stops in milliseconds.
const stopTimeout = 2 * time.Minute

// Start starts a server that stops at the end of the test. The test fails if the server does not
// start or does not stop in order.
func Start(t testing.TB, config miniapi.Config) *miniapi.Server {
	t.Helper()
	server, err := miniapi.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Stop(server); err != nil {
			t.Error(err)
		}
	})
	return server
}

// Stop stops a server. A test may call it before the end of a server of Start.
func Stop(server *miniapi.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return server.Stop(ctx)
}

// HTTPClient returns a client whose connections end with the test.
func HTTPClient(t testing.TB, config *rest.Config) *http.Client {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// Client returns a clientset whose connections end with the test.
func Client(t testing.TB, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfigAndClient(config, HTTPClient(t, config))
	if err != nil {
		t.Fatal(err)
	}
	return client
}
