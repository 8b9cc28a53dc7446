package e2e_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/miniapitest"
)

// Example is the Go example of the README.
func Example() {
	if err := readme(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output: 4 namespaces
}

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

func readme(ctx context.Context) error {
	server, err := miniapi.Start(ctx, miniapi.Config{})
	if err != nil {
		return err
	}
	defer server.Stop(ctx)

	client, err := kubernetes.NewForConfig(server.RESTConfig())
	if err != nil {
		return err
	}
	namespaces, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	fmt.Println(len(namespaces.Items), "namespaces")
	return manage(server)
}

func manage(server *miniapi.Server) error {
	mgr, err := ctrl.NewManager(server.RESTConfig(), ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	return mgr.AddHealthzCheck("ping", func(*http.Request) error { return nil })
}
