package plugin

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/kubelet"
)

// referencedResource returns the resource of an object that a pod refers to, "" for none. A node
// cannot create a mirror pod that refers to objects, which it could read because of that pod.
func referencedResource(pod *corev1.Pod) (string, error) {
	if cmp.Or(pod.Spec.ServiceAccountName, pod.Spec.DeprecatedServiceAccount) != "" {
		return "serviceaccounts", nil
	}
	found := map[schema.GroupResource]bool{}
	kubelet.VisitReferences(&pod.Spec, func(resource schema.GroupResource, name string) {
		found[resource] = found[resource] || name != ""
	})
	switch {
	case found[kubelet.Secrets]:
		return "secrets", nil
	case found[kubelet.ConfigMaps]:
		return "configmaps", nil
	case len(pod.Spec.ResourceClaims) > 0:
		return "resourceclaims", nil
	}
	for i := range pod.Spec.Volumes {
		if resource, err := referencedByVolume(&pod.Spec.Volumes[i]); resource != "" || err != nil {
			return resource, err
		}
	}
	return "", nil
}

// referencedByVolume returns the resource of an object that a volume refers to, also if it does not
// name the object.
func referencedByVolume(v *corev1.Volume) (string, error) {
	switch {
	case v.ConfigMap != nil:
		return "configmaps (via configmap volumes)", nil
	case v.Secret != nil:
		return "secrets (via secret volumes)", nil
	case v.CSI != nil:
		return "csidrivers (via CSI volumes)", nil
	case v.Glusterfs != nil:
		return "endpoints (via glusterFS volumes)", nil
	case v.PersistentVolumeClaim != nil:
		return "persistentvolumeclaims", nil
	case v.Ephemeral != nil:
		return "persistentvolumeclaims (via ephemeral volumes)", nil
	case v.AzureFile != nil:
		return "secrets (via azureFile volumes)", nil
	case v.Projected != nil:
		return referencedByProjection(v)
	case v.VolumeSource == (corev1.VolumeSource{}):
		return "", fmt.Errorf("unknown volume type for volume  %q", v.Name)
	}
	return "", nil
}

func referencedByProjection(v *corev1.Volume) (string, error) {
	for _, source := range v.Projected.Sources {
		switch {
		case source.ConfigMap != nil:
			return "configmaps (via projected volumes)", nil
		case source.Secret != nil:
			return "secrets (via projected volumes)", nil
		case source.ServiceAccountToken != nil:
			return "serviceaccounts (via projected volumes)", nil
		case source.ClusterTrustBundle != nil:
			return "clustertrustbundles", nil
		case source.PodCertificate != nil:
			return "podcertificates", nil
		case source.DownwardAPI == nil:
			return "", fmt.Errorf("unknown source for projected volume %q", v.Name)
		}
	}
	return "", nil
}
