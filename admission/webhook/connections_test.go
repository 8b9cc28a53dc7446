package webhook_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

func TestConnectionsAreShared(t *testing.T) {
	e := start(t)
	for _, name := range []string{"a", "b"} {
		e.mutating(name)
		e.validating(name)
	}
	for _, name := range []string{"x", "y", "z"} {
		if _, err := e.create(configMap(name)); err != nil {
			t.Fatal(err)
		}
	}
	if calls, opened := len(e.calls()), e.opened.Load(); calls != 12 || opened != 1 {
		t.Errorf("%d calls on %d connections", calls, opened)
	}
}

func TestServicesAreResolved(t *testing.T) {
	var resolved, address string
	e := startWith(t, miniapi.Config{ResolveService: func(_ context.Context, namespace, name string, port int32) (string, error) {
		resolved = net.JoinHostPort(name+"."+namespace, "443")
		if port != 443 {
			return "", errors.New("unexpected port")
		}
		return address, nil
	}})
	address = e.hooks.Listener.Addr().String()
	reference := func(w *admissionregistrationv1.ValidatingWebhook) {
		w.ClientConfig.URL = nil
		w.ClientConfig.Service = &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "hooks", Path: new("/v")}
	}
	e.validating("v", reference)
	// The certificate is valid for the address, not for the name of the Service.
	_, err := e.create(configMap("c"))
	servertest.WantStatus(t, err, 500, metav1.StatusReasonInternalError, `Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: `+
		`Post "https://hooks.default.svc:443/v?timeout=10s": tls: failed to verify certificate: x509: certificate is valid for example.com, *.example.com, not hooks.default.svc`)
	if resolved != "hooks.default:443" {
		t.Errorf("resolved %s", resolved)
	}
}

func TestServicesByClusterIP(t *testing.T) {
	e := start(t)
	var served atomic.Value
	e.hooks.TLS.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		served.Store(hello.ServerName)
		return nil, nil
	}
	port := int32(e.hooks.Listener.Addr().(*net.TCPAddr).Port)
	must(t, e.client.CoreV1().Services("default").Create, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "hooks"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "127.0.0.1"},
	})
	e.validating("v", func(w *admissionregistrationv1.ValidatingWebhook) {
		w.ClientConfig.URL, w.FailurePolicy = nil, new(admissionregistrationv1.Ignore)
		w.ClientConfig.Service = &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "hooks", Path: new("/v"), Port: &port}
	})
	if _, err := e.create(configMap("c")); err != nil {
		t.Fatal(err)
	}
	if name, _ := served.Load().(string); name != "hooks.default.svc" {
		t.Errorf("TLS server name %q", name)
	}
}

// A webhook that does not answer does not keep the server from stopping, and leaves no goroutine.
func TestStopWhileAWebhookHangs(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	e := start(t)
	e.validating("v", func(w *admissionregistrationv1.ValidatingWebhook) {
		w.ClientConfig.URL = new("https://" + listener.Addr().String())
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := e.client.CoreV1().ConfigMaps("default").Create(ctx, configMap("c"), metav1.CreateOptions{})
		done <- err
	}()
	conn, err := listener.Accept() // without a TLS handshake
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := e.server.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
