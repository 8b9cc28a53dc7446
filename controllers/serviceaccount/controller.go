// Package serviceaccount creates the ServiceAccount "default" in every active namespace, as
// kube-controller-manager's serviceaccount-controller does.
package serviceaccount

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/controllers/reconcile"
)

// accountName is the account of pods that name none.
const accountName = "default"

// New returns the controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	resource := corev1.Resource("serviceaccounts")
	accounts := reconcile.Objects[*corev1.ServiceAccount]{Catalog: config.Catalog, Resource: resource}
	return reconcile.New(config, reconcile.Spec[*corev1.Namespace]{
		Name:    "serviceaccount-controller",
		Account: "service-account-controller",
		Objects: reconcile.Objects[*corev1.Namespace]{Catalog: config.Catalog, Resource: corev1.Resource("namespaces")},
		Affects: func(change reconcile.Change) (namespace, name string, ok bool) {
			return "", change.Location.Namespace, change.Deleted && change.Is(resource, accountName)
		},
		Reconcile: func(ctx context.Context, ns *corev1.Namespace) (time.Duration, error) {
			if ns.Status.Phase == corev1.NamespaceTerminating {
				return 0, nil
			}
			_, err := accounts.Get(ctx, ns.Name, accountName)
			if apierrors.IsNotFound(err) {
				_, err = accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: accountName}})
			}
			return 0, reconcile.IgnoreTerminating(err)
		},
	})
}
