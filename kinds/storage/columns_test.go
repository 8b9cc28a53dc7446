package storage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestDefaultClassesOfOlderReleasesAreMarked(t *testing.T) {
	class := &storagev1.StorageClass{}
	class.Name = "fast"
	for annotation, want := range map[string]string{
		"storageclass.kubernetes.io/is-default-class":      "fast (default)",
		"storageclass.beta.kubernetes.io/is-default-class": "fast (default)",
		"example.com/is-default-class":                     "fast",
	} {
		class.Annotations = map[string]string{annotation: "true"}
		if got := registrytest.Cells(storageClasses(feature.At(36)), class)[0]; got != want {
			t.Errorf("%s: %v, want %s", annotation, got, want)
		}
	}
	class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "false"}
	if got := registrytest.Cells(storageClasses(feature.At(36)), class)[0]; got != "fast" {
		t.Errorf("an annotation with the value false: %v", got)
	}
}

func TestNewestDefaultClassOfAListIsMarked(t *testing.T) {
	newClass := func(name, isDefault string, created int64) runtime.Object {
		class := &storagev1.StorageClass{}
		class.Name = name
		class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": isDefault}
		class.CreationTimestamp = metav1.Unix(created, 0)
		return class
	}
	list := []runtime.Object{
		newClass("old", "true", 1), newClass("b", "true", 2), newClass("a", "true", 2), newClass("newer", "false", 3),
	}
	columns := storageClasses(feature.Default()).Columns
	var got, alone []any
	for _, class := range list {
		cells, _ := columns.InList(list).Row(class)
		got = append(got, cells[0])
		cells, _ = columns.Row(class)
		alone = append(alone, cells[0])
	}
	if diff := cmp.Diff([]any{"old", "b", "a (default)", "newer"}, got); diff != "" {
		t.Errorf("in a list (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"old", "b", "a", "newer"}, alone); diff != "" {
		t.Errorf("alone (-want +got):\n%s", diff)
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
