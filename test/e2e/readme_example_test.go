package e2e_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/testapi/faults"
)

// Example is the Go example of the README.
func Example() {
	if err := readme(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output: 4 namespaces
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
	if err := rejectUpdates(ctx, server, client); err != nil {
		return err
	}
	if err := await(ctx, server); err != nil {
		return err
	}
	return manage(server)
}

// await waits on a server whose objects exist already.
func await(ctx context.Context, server *miniapi.Server) error {
	if err := server.Settle(ctx); err != nil {
		return err
	}
	if err := server.WaitFor(ctx, "namespace/default", `object.status.phase == "Active"`); err != nil {
		return err
	}
	return server.Advance(time.Hour)
}

// rejectUpdates injects conflicts into updates of the status of Deployments.
func rejectUpdates(ctx context.Context, server *miniapi.Server, client kubernetes.Interface) error {
	conflicts := server.Faults().Conflict(faults.On("update", "deployments/status").Times(2))
	defer conflicts.Remove()
	absent := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "absent"}}
	_, err := client.AppsV1().Deployments("default").UpdateStatus(ctx, absent, metav1.UpdateOptions{})
	if !apierrors.IsConflict(err) || conflicts.Injected() != 1 {
		return fmt.Errorf("got %w, want a conflict", err)
	}
	return nil
}

func manage(server *miniapi.Server) error {
	mgr, err := ctrl.NewManager(server.RESTConfig(), ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	return mgr.AddHealthzCheck("ping", func(*http.Request) error { return nil })
}
