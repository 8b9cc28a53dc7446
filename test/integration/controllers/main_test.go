package controllers_test

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/internal/servertest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(dataDirEnv); dir != "" {
		if err := serve(dir); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(leaktest.Run(m))
}

// env is a server with clients.
type env struct {
	testing.TB
	server  *miniapi.Server
	client  *kubernetes.Clientset
	dynamic *dynamic.DynamicClient
}

// start returns the environment of a server that ends with the test.
func start(t testing.TB, config miniapi.Config) *env {
	t.Helper()
	config.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	server := servertest.Start(t, config)
	e := &env{TB: t, server: server, client: kubernetes.NewForConfigOrDie(server.RESTConfig()), dynamic: dynamic.NewForConfigOrDie(server.RESTConfig())}
	return e
}

func (e *env) stop() { e.check(servertest.Stop(e.server)) }

func (e *env) check(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// await calls done until it returns true. The test fails after minutes, which only a hang exceeds.
func (e *env) await(what string, done func(ctx context.Context) bool) {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done(ctx) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			e.Fatalf("%s: did not happen", what)
		}
	}
}

func (e *env) createNamespace(name string) *corev1.Namespace {
	e.Helper()
	ns, err := e.client.CoreV1().Namespaces().Create(e.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	e.check(err)
	return ns
}

func (e *env) deleteNamespace(name string) {
	e.Helper()
	e.check(e.client.CoreV1().Namespaces().Delete(e.Context(), name, metav1.DeleteOptions{}))
}

func (e *env) awaitNamespaceGone(name string) {
	e.Helper()
	e.await("the end of namespace "+name, func(ctx context.Context) bool {
		_, err := e.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// awaitCondition waits until a condition of a namespace has a status, and returns its text.
func (e *env) awaitCondition(name string, kind corev1.NamespaceConditionType, status corev1.ConditionStatus) (text string) {
	e.Helper()
	e.await(string(kind)+" of namespace "+name, func(ctx context.Context) bool {
		ns, err := e.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		e.check(err)
		for _, c := range ns.Status.Conditions {
			if c.Type == kind && c.Status == status {
				text = c.Reason + ": " + c.Message
				return true
			}
		}
		return false
	})
	return text
}

func configMap(namespace, name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: owners}}
}

func (e *env) createConfigMap(namespace, name string, edit ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	e.Helper()
	obj := configMap(namespace, name)
	for _, edit := range edit {
		edit(obj)
	}
	created, err := e.client.CoreV1().ConfigMaps(namespace).Create(e.Context(), obj, metav1.CreateOptions{})
	e.check(err)
	return created
}

func withFinalizer(name string) func(*corev1.ConfigMap) {
	return func(c *corev1.ConfigMap) { c.Finalizers = append(c.Finalizers, name) }
}
