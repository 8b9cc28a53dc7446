package plugin_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestStorageObjectInUseProtection(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	claim := mustCreate(e, "persistentvolumeclaims", newClaim("c"))
	if !slices.Equal(claim.Finalizers, []string{"kubernetes.io/pvc-protection"}) {
		t.Errorf("finalizers %q", claim.Finalizers)
	}
	volume := mustCreate(e, "persistentvolumes", &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "v", Finalizers: []string{"exam.org/a", "kubernetes.io/pv-protection"}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}, AccessModes: claim.Spec.AccessModes,
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/a"}},
		},
	})
	if len(volume.Finalizers) != 2 {
		t.Errorf("the finalizer was added twice: %q", volume.Finalizers)
	}
	if _, err := e.Store("persistentvolumeclaims").Delete(t.Context(), deletion("c")); err != nil {
		t.Fatal(err)
	}
	if registrytest.Meta(e.Get("persistentvolumeclaims", "x", "c")).GetDeletionTimestamp() == nil {
		t.Error("the claim is not being deleted")
	}
}
