// Package suite has a controller as people write them. The packages below test
// it, as docs/envtest.md shows: with envtest, and in the ways to move away.
package suite

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WelcomeReconciler leaves a ConfigMap in every Namespace.
type WelcomeReconciler struct {
	client.Client
}

// Reconcile one Namespace.
func (r *WelcomeReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	namespace := &corev1.Namespace{}
	if err := r.Get(ctx, req.NamespacedName, namespace); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	welcome := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "welcome", Namespace: namespace.Name},
		Data:       map[string]string{"text": "This is " + namespace.Name + "."},
	}
	return ctrl.Result{}, client.IgnoreAlreadyExists(r.Create(ctx, welcome))
}
