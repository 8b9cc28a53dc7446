package plugin_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
)

func newClaim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: named(name), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
}

func TestDefaultStorageClass(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	class := func(name, annotation, isDefault string) {
		e.Create("storageclasses.storage.k8s.io", &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{annotation: isDefault}}, Provisioner: "p",
		})
	}
	assigned := func(change func(*corev1.PersistentVolumeClaim)) string {
		claim := newClaim("")
		claim.GenerateName = "c-"
		change(claim)
		if claim = mustCreate(e, "persistentvolumeclaims", claim); claim.Spec.StorageClassName == nil {
			return "none"
		}
		return *claim.Spec.StorageClassName
	}
	unchanged := func(*corev1.PersistentVolumeClaim) {}
	class("other", "storageclass.kubernetes.io/is-default-class", "false")
	if got := assigned(unchanged); got != "none" {
		t.Errorf("without a default class: %s", got)
	}
	class("zz", "storageclass.beta.kubernetes.io/is-default-class", "true")
	class("usual", "storageclass.kubernetes.io/is-default-class", "true")
	for _, tc := range []struct {
		rule, want string
		change     func(*corev1.PersistentVolumeClaim)
	}{
		{"a claim without a class gets the newest default", "usual", unchanged},
		{"a class is kept", "other", func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("other") }},
		{"an empty class is kept", "", func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("") }},
		{"the beta annotation is kept", "none", func(c *corev1.PersistentVolumeClaim) {
			c.Annotations = map[string]string{"volume.beta.kubernetes.io/storage-class": "other"}
		}},
	} {
		if got := assigned(tc.change); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.rule, got, tc.want)
		}
	}
}
