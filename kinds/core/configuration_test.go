package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestSecretDefaults(t *testing.T) {
	e := newEnv(t)
	version := e.Store("secrets").Resource().Versions[0]
	secret := &corev1.Secret{
		Data:       map[string][]byte{"a": []byte("1"), "b": []byte("2")},
		StringData: map[string]string{"b": "3", "c": "4"},
	}
	version.Default(secret)
	want := &corev1.Secret{
		Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{"a": []byte("1"), "b": []byte("3"), "c": []byte("4")},
	}
	if diff := cmp.Diff(want, secret); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestImmutableConfigMapsAndSecrets(t *testing.T) {
	e := newEnv(t)
	e.Create("configmaps", &corev1.ConfigMap{ObjectMeta: named("m"), Immutable: new(true), Data: map[string]string{"a": "1"}})
	e.Create("secrets", &corev1.Secret{ObjectMeta: named("s"), Immutable: new(true), Type: "x/y"})
	for _, tc := range []struct {
		name, resource, object string
		change                 func(runtime.Object)
	}{
		{"data", "configmaps", "m", func(o runtime.Object) { o.(*corev1.ConfigMap).Data["a"] = "2" }},
		{"binaryData", "configmaps", "m", func(o runtime.Object) { o.(*corev1.ConfigMap).BinaryData = map[string][]byte{"b": nil} }},
		{"empty binaryData", "configmaps", "m", func(o runtime.Object) { o.(*corev1.ConfigMap).BinaryData = map[string][]byte{} }},
		{"itself", "configmaps", "m", func(o runtime.Object) { o.(*corev1.ConfigMap).Immutable = nil }},
		{"data of a secret", "secrets", "s", func(o runtime.Object) { o.(*corev1.Secret).Data = map[string][]byte{"b": nil} }},
		{"empty data of a secret", "secrets", "s", func(o runtime.Object) { o.(*corev1.Secret).Data = map[string][]byte{} }},
		{"immutable of a secret", "secrets", "s", func(o runtime.Object) { o.(*corev1.Secret).Immutable = new(false) }},
		{"type of a secret", "secrets", "s", func(o runtime.Object) { o.(*corev1.Secret).Type = "other" }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := put(env{e.With(t)}, tc.resource, tc.object, "", tc.change); !apierrors.IsInvalid(err) {
				t.Errorf("%v, want 422", err)
			}
		})
	}
	mustPut(e, "configmaps", "m", "", func(m *corev1.ConfigMap) { m.Labels = map[string]string{"a": "b"} })
	mustPut(e, "secrets", "s", "", func(s *corev1.Secret) { s.Labels = map[string]string{"a": "b"} })
	e.Create("configmaps", &corev1.ConfigMap{ObjectMeta: named("empty"), Immutable: new(true)})
	mustPut(e, "configmaps", "empty", "", func(m *corev1.ConfigMap) { m.Data = map[string]string{} })
}

func TestServiceAccountKeepsOnlySecretNames(t *testing.T) {
	e := newEnv(t)
	references := []corev1.ObjectReference{{Kind: "Secret", Name: "s", UID: "u"}}
	account := e.Create("serviceaccounts", &corev1.ServiceAccount{ObjectMeta: named("a"), Secrets: references}).(*corev1.ServiceAccount)
	want := []corev1.ObjectReference{{Name: "s"}}
	if diff := cmp.Diff(want, account.Secrets); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	account = mustPut(e, "serviceaccounts", "a", "", func(a *corev1.ServiceAccount) { a.Secrets = references })
	if diff := cmp.Diff(want, account.Secrets); diff != "" {
		t.Errorf("updated (-want +got):\n%s", diff)
	}
}

func TestNodeKeepsStatusOnCreate(t *testing.T) {
	e := newEnv(t)
	node := &corev1.Node{Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}}}}
	node.Name = "n"
	if got := e.Create("nodes", node).(*corev1.Node); len(got.Status.Addresses) != 1 {
		t.Error("the status that the kubelet registered was dropped")
	}
	got := mustPut(e, "nodes", "n", "", func(n *corev1.Node) { n.Status.Addresses, n.Spec.Unschedulable = nil, true })
	if len(got.Status.Addresses) != 1 || !got.Spec.Unschedulable {
		t.Errorf("after an update: addresses %v, unschedulable %v", got.Status.Addresses, got.Spec.Unschedulable)
	}
}

func TestPersistentVolumePhaseTransitionTime(t *testing.T) {
	e := newEnv(t)
	created := e.Create("persistentvolumes", newVolume()).(*corev1.PersistentVolume)
	if created.Status.Phase != corev1.VolumePending || created.Status.LastPhaseTransitionTime == nil {
		t.Errorf("created with %+v", created.Status)
	}
	mustPut(e, "persistentvolumes", "v", "status", func(v *corev1.PersistentVolume) { v.Status.LastPhaseTransitionTime = nil })
	bound := mustPut(e, "persistentvolumes", "v", "status", func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeBound })
	if bound.Status.LastPhaseTransitionTime == nil {
		t.Error("a new phase was not stamped")
	}
}

func newVolume() *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{
		AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		PersistentVolumeSource: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/"}},
	}}
	v.Name = "v"
	return v
}

func newClaim() *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: named("c"), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		},
	}}
}

func TestPersistentVolumeClaimIsPending(t *testing.T) {
	e := newEnv(t)
	created := e.Create("persistentvolumeclaims", newClaim()).(*corev1.PersistentVolumeClaim)
	read := get[*corev1.PersistentVolumeClaim](e, "persistentvolumeclaims", "c")
	if created.Status.Phase != corev1.ClaimPending || read.Status.Phase != corev1.ClaimPending {
		t.Errorf("created %q, read %q, want Pending", created.Status.Phase, read.Status.Phase)
	}
}
