// Package adoption_test uses miniapitest as an operator project on a pinned release of
// controller-runtime does. The modules test/adoption/controller-runtime-* link to this file.
package adoption_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/miniapi/miniapi/miniapitest"
)

const label = "adoption.example.com/seen"

// TestControllersInParallel runs a controller and a server per test.
func TestControllersInParallel(t *testing.T) {
	for i := 0; i < 8; i++ {
		name := fmt.Sprintf("configmap-%d", i) // unique, because controller-runtime requires it
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := miniapitest.Start(t, miniapitest.Options{})
			manager, err := ctrl.NewManager(server.RESTConfig(), ctrl.Options{
				Metrics: metricsserver.Options{BindAddress: "0"},
			})
			if err != nil {
				t.Fatal(err)
			}
			err = ctrl.NewControllerManagedBy(manager).Named(name).For(&corev1.ConfigMap{}).
				Complete(labeller{manager.GetClient()})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- manager.Start(ctx) }()
			t.Cleanup(func() {
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
			awaitLabel(t, manager)
		})
	}
}

// labeller is a controller that labels each ConfigMap.
type labeller struct{ client client.Client }

func (l labeller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var configMap corev1.ConfigMap
	if err := l.client.Get(ctx, request.NamespacedName, &configMap); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if configMap.Labels[label] != "" {
		return reconcile.Result{}, nil
	}
	if configMap.Labels == nil {
		configMap.Labels = map[string]string{}
	}
	configMap.Labels[label] = "true"
	return reconcile.Result{}, l.client.Update(ctx, &configMap)
}

// awaitLabel creates a ConfigMap and waits until the controller has labelled it. Then an update
// from the old copy must conflict.
func awaitLabel(t *testing.T, manager ctrl.Manager) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	direct, err := client.New(manager.GetConfig(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stale := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mine"}}
	if err := direct.Create(ctx, stale); err != nil {
		t.Fatal(err)
	}
	for current := stale.DeepCopy(); current.Labels[label] == ""; time.Sleep(5 * time.Millisecond) {
		if err := direct.Get(ctx, client.ObjectKeyFromObject(stale), current); err != nil {
			t.Fatal(err)
		}
	}
	if err := direct.Update(ctx, stale); !apierrors.IsConflict(err) {
		t.Errorf("update from a stale copy: %v, want a conflict", err)
	}
}
