package plain_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi/miniapitest"
)

// The test of the README.
func TestController(t *testing.T) {
	t.Parallel()
	server := miniapitest.Start(t, miniapitest.Options{})
	client, err := kubernetes.NewForConfig(server.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	namespaces, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(namespaces.Items) != 4 {
		t.Errorf("%d namespaces (%v), want 4", len(namespaces.Items), err)
	}
}
