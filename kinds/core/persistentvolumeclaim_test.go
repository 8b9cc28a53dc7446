package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestClaimDataSourcesArePaired(t *testing.T) {
	e := newEnv(t)
	source := func(kind string) *corev1.TypedLocalObjectReference {
		return &corev1.TypedLocalObjectReference{Kind: kind, Name: "a"}
	}
	ref := func(kind string) *corev1.TypedObjectReference {
		return &corev1.TypedObjectReference{Kind: kind, Name: "a"}
	}
	anyGroup, anyRef := source("Any"), ref("Any")
	anyGroup.APIGroup, anyRef.APIGroup = new("example.com"), new("example.com")
	elsewhere := ref("PersistentVolumeClaim")
	elsewhere.Namespace = new("other")
	for _, tc := range []struct {
		name        string
		given, want corev1.PersistentVolumeClaimSpec
	}{
		{"none", corev1.PersistentVolumeClaimSpec{}, corev1.PersistentVolumeClaimSpec{}},
		{
			"the old one",
			corev1.PersistentVolumeClaimSpec{DataSource: source("PersistentVolumeClaim")},
			corev1.PersistentVolumeClaimSpec{DataSource: source("PersistentVolumeClaim"), DataSourceRef: ref("PersistentVolumeClaim")},
		},
		{
			"the new one",
			corev1.PersistentVolumeClaimSpec{DataSourceRef: anyRef},
			corev1.PersistentVolumeClaimSpec{DataSource: anyGroup, DataSourceRef: anyRef},
		},
		{
			"another namespace, which is ignored",
			corev1.PersistentVolumeClaimSpec{DataSourceRef: elsewhere},
			corev1.PersistentVolumeClaimSpec{},
		},
		{"kinds that dataSource does not allow", corev1.PersistentVolumeClaimSpec{DataSource: source("Any")}, corev1.PersistentVolumeClaimSpec{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := env{e.With(t)}
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: named(""), Spec: tc.given}
			claim.GenerateName = "c-"
			claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
			claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
			created := e.Create("persistentvolumeclaims", claim).(*corev1.PersistentVolumeClaim)
			updated := mustPut(e, "persistentvolumeclaims", created.Name, "", func(c *corev1.PersistentVolumeClaim) { c.Spec.DataSource = tc.given.DataSource })
			for _, got := range []*corev1.PersistentVolumeClaim{created, updated} {
				if diff := cmp.Diff(tc.want.DataSource, got.Spec.DataSource); diff != "" {
					t.Errorf("data source (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tc.want.DataSourceRef, got.Spec.DataSourceRef); diff != "" {
					t.Errorf("reference (-want +got):\n%s", diff)
				}
			}
		})
	}
}
