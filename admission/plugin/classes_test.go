package plugin_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry/registrytest"
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
	silent := func(*corev1.PersistentVolumeClaim) {}
	class("other", "storageclass.kubernetes.io/is-default-class", "false")
	if got := assigned(silent); got != "none" {
		t.Errorf("without a default class: %s", got)
	}
	class("zz", "storageclass.beta.kubernetes.io/is-default-class", "true")
	class("usual", "storageclass.kubernetes.io/is-default-class", "true")
	for _, tc := range []struct {
		rule, want string
		change     func(*corev1.PersistentVolumeClaim)
	}{
		{"who names none gets the newest default", "usual", silent},
		{"a class is kept", "other", func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("other") }},
		{"so is the wish for none", "", func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("") }},
		{"and the old way to name one", "none", func(c *corev1.PersistentVolumeClaim) {
			c.Annotations = map[string]string{"volume.beta.kubernetes.io/storage-class": "other"}
		}},
	} {
		if got := assigned(tc.change); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.rule, got, tc.want)
		}
	}
}

func TestDefaultIngressClass(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.Create("ingressclasses.networking.k8s.io", &networkingv1.IngressClass{
		ObjectMeta: metav1.ObjectMeta{Name: "usual", Annotations: map[string]string{"ingressclass.kubernetes.io/is-default-class": "true"}},
		Spec:       networkingv1.IngressClassSpec{Controller: "exam.org/c"},
	})
	backend := &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "s", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	for _, tc := range []struct {
		rule, want  string
		class       *string
		annotations map[string]string
	}{
		{"who names none gets the default", "usual", nil, nil},
		{"a class is kept", "other", new("other"), nil},
		{"so is the old way to name one", "none", nil, map[string]string{"kubernetes.io/ingress.class": "other"}},
	} {
		ingress := mustCreate(e, "ingresses.networking.k8s.io", &networkingv1.Ingress{
			ObjectMeta: metav1.ObjectMeta{Namespace: "x", GenerateName: "i-", Annotations: tc.annotations},
			Spec:       networkingv1.IngressSpec{IngressClassName: tc.class, DefaultBackend: backend},
		})
		got := "none"
		if ingress.Spec.IngressClassName != nil {
			got = *ingress.Spec.IngressClassName
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.rule, got, tc.want)
		}
	}
}

func TestStorageInUseIsProtected(t *testing.T) {
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
		t.Errorf("a finalizer that is there is not added: %q", volume.Finalizers)
	}
	if _, err := e.Store("persistentvolumeclaims").Delete(t.Context(), deletion("c")); err != nil {
		t.Fatal(err)
	}
	if registrytest.Meta(e.Get("persistentvolumeclaims", "x", "c")).GetDeletionTimestamp() == nil {
		t.Error("the claim is not being deleted")
	}
}

func TestClaimsGrow(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	for class, grows := range map[string]*bool{"grows": new(true), "fixed": new(false), "silent": nil} {
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
		{"if the class says so", "grows", size("2Gi"), ""},
		{"not against the class", "fixed", size("2Gi"), unsupported},
		{"nor if it says nothing", "silent", size("2Gi"), unsupported},
		{"nor if it is not there", "absent", size("2Gi"), unsupported},
		{"nor without one", "", size("2Gi"), unsupported},
		{"what stays as large is nobody's business", "fixed", func(c *corev1.PersistentVolumeClaim) { c.Labels = map[string]string{"a": "b"} }, ""},
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
