package plugin_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
)

func TestPersistentVolumeClaimResize(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	for class, grows := range map[string]*bool{"grows": new(true), "fixed": new(false), "unset": nil} {
		e.Create("storageclasses.storage.k8s.io", &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "p", AllowVolumeExpansion: grows,
		})
	}
	size := func(quantity string) func(*corev1.PersistentVolumeClaim) {
		return func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests = amounts("storage", quantity) }
	}
	const unsupported = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
	for _, tc := range []struct {
		rule, class string
		change      func(*corev1.PersistentVolumeClaim)
		want        string
	}{
		{"the class allows expansion", "grows", size("2Gi"), ""},
		{"the class forbids expansion", "fixed", size("2Gi"), unsupported},
		{"the class does not set expansion", "unset", size("2Gi"), unsupported},
		{"the class does not exist", "absent", size("2Gi"), unsupported},
		{"no class", "", size("2Gi"), unsupported},
		{"other updates are not checked", "fixed", func(c *corev1.PersistentVolumeClaim) { c.Labels = map[string]string{"a": "b"} }, ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t)}
			claim := newClaim("")
			claim.GenerateName, claim.Spec.StorageClassName = "c-", &tc.class
			claim = mustCreate(e, "persistentvolumeclaims", claim)
			if _, err := tryChange(e, "persistentvolumeclaims", "status", claim, func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimBound }); err != nil {
				t.Fatal(err)
			}
			want := ""
			if tc.want != "" {
				want = `persistentvolumeclaims "` + claim.Name + `" is forbidden: ` + tc.want
			}
			if _, err := tryChange(e, "persistentvolumeclaims", "", claim, tc.change); text(err) != want {
				t.Errorf("got %q\nwant %q", text(err), want)
			}
		})
	}
}
