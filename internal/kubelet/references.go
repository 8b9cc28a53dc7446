package kubelet

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The resources of the objects that VisitReferences finds.
var (
	Secrets                = corev1.Resource("secrets")
	ConfigMaps             = corev1.Resource("configmaps")
	PersistentVolumeClaims = corev1.Resource("persistentvolumeclaims")
)

// Visitor is called with the resource and the name of an object in the namespace of a pod. The name
// may be empty.
type Visitor = func(resource schema.GroupResource, name string)

// VisitReferences visits the Secrets, ConfigMaps and claims that a pod names: for its images, in
// the environments of its containers and in its volumes.
func VisitReferences(spec *corev1.PodSpec, visit Visitor) {
	for _, secret := range spec.ImagePullSecrets {
		visit(Secrets, secret.Name)
	}
	visitEnvironments(spec, visit)
	for i := range spec.Volumes {
		visitVolume(&spec.Volumes[i].VolumeSource, visit)
	}
}

func visitEnvironments(spec *corev1.PodSpec, visit Visitor) {
	containers := append(append([]corev1.Container(nil), spec.InitContainers...), spec.Containers...)
	for i := range spec.EphemeralContainers {
		containers = append(containers, corev1.Container(spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
	for i := range containers {
		for _, from := range containers[i].EnvFrom {
			if from.SecretRef != nil {
				visit(Secrets, from.SecretRef.Name)
			}
			if from.ConfigMapRef != nil {
				visit(ConfigMaps, from.ConfigMapRef.Name)
			}
		}
		for _, variable := range containers[i].Env {
			if from := variable.ValueFrom; from != nil && from.SecretKeyRef != nil {
				visit(Secrets, from.SecretKeyRef.Name)
			}
			if from := variable.ValueFrom; from != nil && from.ConfigMapKeyRef != nil {
				visit(ConfigMaps, from.ConfigMapKeyRef.Name)
			}
		}
	}
}

func visitVolume(v *corev1.VolumeSource, visit Visitor) {
	local := func(ref *corev1.LocalObjectReference) {
		if ref != nil {
			visit(Secrets, ref.Name)
		}
	}
	switch {
	case v.Secret != nil:
		visit(Secrets, v.Secret.SecretName)
	case v.ConfigMap != nil:
		visit(ConfigMaps, v.ConfigMap.Name)
	case v.PersistentVolumeClaim != nil:
		visit(PersistentVolumeClaims, v.PersistentVolumeClaim.ClaimName)
	case v.Projected != nil:
		for _, source := range v.Projected.Sources {
			if source.Secret != nil {
				visit(Secrets, source.Secret.Name)
			}
			if source.ConfigMap != nil {
				visit(ConfigMaps, source.ConfigMap.Name)
			}
		}
	case v.AzureFile != nil:
		visit(Secrets, v.AzureFile.SecretName)
	case v.CephFS != nil:
		local(v.CephFS.SecretRef)
	case v.Cinder != nil:
		local(v.Cinder.SecretRef)
	case v.FlexVolume != nil:
		local(v.FlexVolume.SecretRef)
	case v.RBD != nil:
		local(v.RBD.SecretRef)
	case v.ScaleIO != nil:
		local(v.ScaleIO.SecretRef)
	case v.ISCSI != nil:
		local(v.ISCSI.SecretRef)
	case v.StorageOS != nil:
		local(v.StorageOS.SecretRef)
	case v.CSI != nil:
		local(v.CSI.NodePublishSecretRef)
	}
}
