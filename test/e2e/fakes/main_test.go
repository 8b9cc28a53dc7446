package fakes_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clientgofake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllerruntimefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/internal/servertest"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	os.Exit(leaktest.Run(m))
}

// clientGo runs a test of code with a bug with client-go's fake, which does not find the bug, and
// with a server, which does. The test returns the error that it would fail with; found is a part of
// that error.
func clientGo(t *testing.T, found string, test func(ctx context.Context, client kubernetes.Interface) error) {
	t.Run("fake", func(t *testing.T) {
		passes(t, test(t.Context(), clientgofake.NewClientset()))
	})
	t.Run("miniapi", func(t *testing.T) {
		client, err := kubernetes.NewForConfig(start(t))
		check(t, err)
		fails(t, found, test(t.Context(), client))
	})
}

// controllerRuntime is clientGo for the fake of controller-runtime.
func controllerRuntime(t *testing.T, found string, test func(ctx context.Context, client client.Client) error) {
	t.Run("fake", func(t *testing.T) {
		passes(t, test(t.Context(), controllerruntimefake.NewClientBuilder().Build()))
	})
	t.Run("miniapi", func(t *testing.T) {
		client, err := client.New(start(t), client.Options{})
		check(t, err)
		fails(t, found, test(t.Context(), client))
	})
}

// start starts a server that ends with the test. It serves the definitions in testdata.
func start(t *testing.T) *rest.Config {
	t.Helper()
	return servertest.Start(t, miniapi.Config{CRDs: []string{"testdata"}}).RESTConfig()
}

func passes(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("the fake finds the bug (%v): remove it from docs/from-fakes.md", err)
	}
}

func fails(t *testing.T, found string, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), found) {
		t.Errorf("error %v, want %q", err, found)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, Labels: map[string]string{"app": "demo"},
	}}
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}}
}

func deployment(name string) *appsv1.Deployment {
	app := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: app}, Spec: podSpec()},
		},
	}
}
