package storage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestDefaultClassesAreMarked(t *testing.T) {
	class := &storagev1.StorageClass{}
	class.Name = "fast"
	for annotation, want := range map[string]string{
		"storageclass.kubernetes.io/is-default-class":      "fast (default)",
		"storageclass.beta.kubernetes.io/is-default-class": "fast (default)",
		"example.com/is-default-class":                     "fast",
	} {
		class.Annotations = map[string]string{annotation: "true"}
		if got := registrytest.Cells(storageClasses(feature.Default()), class)[0]; got != want {
			t.Errorf("%s: %v, want %s", annotation, got, want)
		}
	}
	class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "false"}
	if got := registrytest.Cells(storageClasses(feature.Default()), class)[0]; got != "fast" {
		t.Errorf("an annotation that says no: %v", got)
	}
}

func TestCSIDriverColumns(t *testing.T) {
	driver := &storagev1.CSIDriver{}
	driver.Name = "d"
	want := []any{"d", true, false, false, "<unset>", false, "<none>"}
	if diff := cmp.Diff(want, registrytest.Cells(csiDrivers(feature.Default()), driver)[:7]); diff != "" {
		t.Errorf("where nothing is said (-want +got):\n%s", diff)
	}
	driver.Spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{"Persistent", "Ephemeral"}
	driver.Spec.TokenRequests = []storagev1.TokenRequest{{Audience: "a"}, {Audience: "b"}}
	want = []any{"d", true, false, false, "a,b", false, "Persistent,Ephemeral"}
	if diff := cmp.Diff(want, registrytest.Cells(csiDrivers(feature.Default()), driver)[:7]); diff != "" {
		t.Errorf("with lists (-want +got):\n%s", diff)
	}
}
