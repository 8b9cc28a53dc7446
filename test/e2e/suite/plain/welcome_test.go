package plain_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/miniapi/miniapi/miniapitest"
	"github.com/miniapi/miniapi/test/e2e/suite"
)

func TestNamespacesAreWelcomed(t *testing.T) {
	t.Parallel()
	k8s, reconciler := setup(t)
	request := ctrl.Request{NamespacedName: client.ObjectKey{Name: "default"}}
	if _, err := reconciler.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	welcome := &corev1.ConfigMap{}
	if err := k8s.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "welcome"}, welcome); err != nil {
		t.Fatal(err)
	}
}

func TestNoTwoTestsMeet(t *testing.T) {
	t.Parallel()
	k8s, _ := setup(t)
	welcome := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "welcome"}}
	if err := k8s.Create(t.Context(), welcome); err != nil { // the other test's is elsewhere
		t.Fatal(err)
	}
	stale := welcome.DeepCopy()
	welcome.Data = map[string]string{"text": "mine"}
	if err := k8s.Update(t.Context(), welcome); err != nil {
		t.Fatal(err)
	}
	if err := k8s.Update(t.Context(), stale); !apierrors.IsConflict(err) {
		t.Errorf("a stale copy: %v, want a conflict", err)
	}
}

func setup(t *testing.T) (client.Client, *suite.WelcomeReconciler) {
	t.Helper()
	server := miniapitest.Start(t, miniapitest.Options{})
	k8s, err := client.New(server.RESTConfig(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return k8s, &suite.WelcomeReconciler{Client: k8s}
}
