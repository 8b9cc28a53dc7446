package node

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// refersTo reports whether a pod refers to an object of its namespace. Mirror pods, which a node
// creates by itself, refer to nothing.
func refersTo(p *corev1.Pod, resource schema.GroupResource, name string) bool {
	if _, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]; mirror || name == "" {
		return false
	}
	found := false
	visit := func(to schema.GroupResource, referred string) {
		found = found || to == resource && referred == name
	}
	visit(serviceAccounts, p.Spec.ServiceAccountName)
	for _, secret := range p.Spec.ImagePullSecrets {
		visit(secrets, secret.Name)
	}
	visitEnvironments(&p.Spec, visit)
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		visitVolume(&v.VolumeSource, visit)
		if v.Ephemeral != nil {
			visit(persistentVolumeClaims, p.Name+"-"+v.Name)
		}
	}
	visitClaims(p, visit)
	return found
}

type visitor func(resource schema.GroupResource, name string)

func visitEnvironments(spec *corev1.PodSpec, visit visitor) {
	containers := append(append([]corev1.Container(nil), spec.InitContainers...), spec.Containers...)
	for i := range spec.EphemeralContainers {
		containers = append(containers, corev1.Container(spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
	for i := range containers {
		for _, from := range containers[i].EnvFrom {
			if from.SecretRef != nil {
				visit(secrets, from.SecretRef.Name)
			}
			if from.ConfigMapRef != nil {
				visit(configMaps, from.ConfigMapRef.Name)
			}
		}
		for _, variable := range containers[i].Env {
			if from := variable.ValueFrom; from != nil && from.SecretKeyRef != nil {
				visit(secrets, from.SecretKeyRef.Name)
			}
			if from := variable.ValueFrom; from != nil && from.ConfigMapKeyRef != nil {
				visit(configMaps, from.ConfigMapKeyRef.Name)
			}
		}
	}
}

func visitVolume(v *corev1.VolumeSource, visit visitor) {
	local := func(ref *corev1.LocalObjectReference) {
		if ref != nil {
			visit(secrets, ref.Name)
		}
	}
	switch {
	case v.Secret != nil:
		visit(secrets, v.Secret.SecretName)
	case v.ConfigMap != nil:
		visit(configMaps, v.ConfigMap.Name)
	case v.PersistentVolumeClaim != nil:
		visit(persistentVolumeClaims, v.PersistentVolumeClaim.ClaimName)
	case v.Projected != nil:
		for _, source := range v.Projected.Sources {
			if source.Secret != nil {
				visit(secrets, source.Secret.Name)
			}
			if source.ConfigMap != nil {
				visit(configMaps, source.ConfigMap.Name)
			}
		}
	case v.AzureFile != nil:
		visit(secrets, v.AzureFile.SecretName)
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

// visitClaims visits the resource claims of a pod. The status names the claims that were made from
// templates.
func visitClaims(p *corev1.Pod, visit visitor) {
	for _, claim := range p.Spec.ResourceClaims {
		if claim.ResourceClaimName != nil {
			visit(resourceClaims, *claim.ResourceClaimName)
		}
		for _, status := range p.Status.ResourceClaimStatuses {
			if claim.ResourceClaimTemplateName != nil && status.Name == claim.Name && status.ResourceClaimName != nil {
				visit(resourceClaims, *status.ResourceClaimName)
			}
		}
	}
	if extended := p.Status.ExtendedResourceClaimStatus; extended != nil {
		visit(resourceClaims, extended.ResourceClaimName)
	}
}
