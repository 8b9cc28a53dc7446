package e2e_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/testapi/faults"
)

// TestStaleCacheOfManager reads through the cache of a manager while the watch cache of the server
// is held: the manager does not find its own write until the fault ends.
func TestStaleCacheOfManager(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	mgr := newManager(t, server.RESTConfig(), ctrl.Options{})
	_, err := mgr.GetCache().GetInformer(t.Context(), &corev1.ConfigMap{})
	check(t, err)
	f := server.Faults().Stale(faults.On("", "configmaps"))
	background(t, mgr.Start)
	if !mgr.GetCache().WaitForCacheSync(t.Context()) {
		t.Fatal("the cache is not synced")
	}
	written := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "written", Namespace: namespace}}
	check(t, mgr.GetClient().Create(t.Context(), written))
	key := client.ObjectKeyFromObject(written)
	if err := mgr.GetClient().Get(t.Context(), key, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("a read from the stale cache: %v", err)
	}
	check(t, mgr.GetAPIReader().Get(t.Context(), key, &corev1.ConfigMap{}))
	f.Remove()
	deadline := time.After(patience)
	for mgr.GetClient().Get(t.Context(), key, &corev1.ConfigMap{}) != nil {
		select {
		case <-deadline:
			t.Fatal("the cache does not catch up")
		case <-time.After(time.Millisecond):
		}
	}
}

// TestFullEtcd shows the error of a client of controller-runtime for an etcd without space.
func TestFullEtcd(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	c := newClient(t, server)
	web := newDeployment("web")
	check(t, c.Create(t.Context(), web))
	f := server.Faults().Etcd(faults.On("", "deployments"), faults.Etcd{NoSpace: true})
	web.Spec.Replicas = new(int32(2))
	err := c.Update(t.Context(), web)
	if !apierrors.IsInternalError(err) && apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		t.Errorf("an update: %v", err)
	}
	if err == nil {
		t.Error("an update succeeds")
	}
	check(t, c.Delete(t.Context(), web))
	f.Remove()
}
