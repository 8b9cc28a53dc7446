package node

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// secretsOf returns the secrets of a volume that a kubelet reads. Some sources name no namespace:
// then it is the namespace of the claim.
func secretsOf(v *corev1.PersistentVolume) []corev1.SecretReference {
	var list []corev1.SecretReference
	add := func(ref *corev1.SecretReference) {
		if ref != nil {
			list = append(list, *ref)
		}
	}
	ofClaim := func(ref *corev1.SecretReference) {
		if ref != nil && v.Spec.ClaimRef != nil {
			add(&corev1.SecretReference{Namespace: cmp.Or(ref.Namespace, v.Spec.ClaimRef.Namespace), Name: ref.Name})
		}
	}
	switch s := &v.Spec.PersistentVolumeSource; {
	case s.AzureFile != nil:
		ref := &corev1.SecretReference{Name: s.AzureFile.SecretName}
		if s.AzureFile.SecretNamespace != nil {
			ref.Namespace = *s.AzureFile.SecretNamespace
		}
		ofClaim(ref)
	case s.CephFS != nil:
		ofClaim(s.CephFS.SecretRef)
	case s.FlexVolume != nil:
		ofClaim(s.FlexVolume.SecretRef)
	case s.RBD != nil:
		ofClaim(s.RBD.SecretRef)
	case s.ScaleIO != nil:
		ofClaim(s.ScaleIO.SecretRef)
	case s.ISCSI != nil:
		ofClaim(s.ISCSI.SecretRef)
	case s.Cinder != nil:
		add(s.Cinder.SecretRef)
	case s.StorageOS != nil && s.StorageOS.SecretRef != nil:
		add(&corev1.SecretReference{Namespace: s.StorageOS.SecretRef.Namespace, Name: s.StorageOS.SecretRef.Name})
	case s.CSI != nil:
		add(s.CSI.NodePublishSecretRef)
		add(s.CSI.NodeStageSecretRef)
		add(s.CSI.NodeExpandSecretRef)
	}
	return list
}
