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

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/internal/servertest"
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
	server := servertest.Start(t, config)
	e := &env{TB: t, server: server}
	e.client = servertest.Client(t, server.RESTConfig())
	return e
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
