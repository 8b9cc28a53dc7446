// Package adoption_test imports the server into a project on controller-runtime v0.24. Module
// test/e2e does the same with controller-runtime v0.25.
package adoption_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/miniapi/miniapi"
)

const label = "adoption.example.com/seen"

// TestManagersInParallel runs a server and a manager per test.
func TestManagersInParallel(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			server, err := miniapi.Start(t.Context(), miniapi.Config{})
			check(t, err)
			t.Cleanup(func() { check(t, server.Stop(context.Background())) })
			skip := true
			manager, err := ctrl.NewManager(server.RESTConfig(), ctrl.Options{
				Metrics:    metricsserver.Options{BindAddress: "0"},
				Controller: config.Controller{SkipNameValidation: &skip},
			})
			check(t, err)
			check(t, ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Complete(labeller{manager.GetClient()}))
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- manager.Start(ctx) }()
			t.Cleanup(func() { // runs before the server stops
				cancel()
				check(t, <-ended)
			})
			awaitLabel(t, manager)
		})
	}
}

// labeller is a reconciler that labels each ConfigMap.
type labeller struct{ client client.Client }

func (l labeller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var configMap corev1.ConfigMap
	if err := l.client.Get(ctx, request.NamespacedName, &configMap); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	labelled := configMap.DeepCopy()
	labelled.Labels = map[string]string{label: "true"}
	return reconcile.Result{}, l.client.Patch(ctx, labelled, client.MergeFrom(&configMap))
}

// awaitLabel creates a ConfigMap and waits until the reconciler has labelled it. Then an update
// from the old copy must conflict.
func awaitLabel(t *testing.T, manager ctrl.Manager) {
	t.Helper()
	direct, err := client.New(manager.GetConfig(), client.Options{})
	check(t, err)
	stale := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mine"}}
	check(t, direct.Create(t.Context(), stale))
	for current := stale.DeepCopy(); current.Labels[label] == ""; time.Sleep(5 * time.Millisecond) {
		check(t, direct.Get(t.Context(), client.ObjectKeyFromObject(stale), current))
	}
	if err := direct.Update(t.Context(), stale); !apierrors.IsConflict(err) {
		t.Errorf("update from a stale copy: %v, want a conflict", err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
