// Package waiting_test waits for the end of activity and for conditions, with real clients.
package waiting_test

import (
	"context"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/leaktest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// env is a server with a client.
type env struct {
	testing.TB
	server *miniapi.Server
	client *kubernetes.Clientset
}

func start(t testing.TB, config miniapi.Config) *env {
	t.Helper()
	config.TestAPIs = true
	server, err := miniapi.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(server); err != nil {
			t.Error(err)
		}
	})
	e := &env{TB: t, server: server}
	e.client = e.clientOf(server.RESTConfig())
	return e
}

// stop stops a server, which takes milliseconds. The time limit is for slow machines.
func stop(server *miniapi.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return server.Stop(ctx)
}

// clientOf returns a client whose connections end with the test.
func (e *env) clientOf(config *rest.Config) *kubernetes.Clientset {
	e.Helper()
	httpClient, err := rest.HTTPClientFor(config)
	e.check(err)
	e.Cleanup(httpClient.CloseIdleConnections)
	client, err := kubernetes.NewForConfigAndClient(config, httpClient)
	e.check(err)
	return client
}

func (e *env) check(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func (e *env) settle() {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), time.Minute)
	defer cancel()
	e.check(e.server.Settle(ctx))
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func (e *env) createConfigMap(obj *corev1.ConfigMap) {
	e.Helper()
	_, err := e.client.CoreV1().ConfigMaps("default").Create(e.Context(), obj, metav1.CreateOptions{})
	e.check(err)
}
