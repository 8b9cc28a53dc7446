package podspec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// warningsForVolume returns warnings about volumes of removed providers.
func warningsForVolume(v *corev1.VolumeSource, at *field.Path) []string {
	var list []string
	gone := func(set bool, name, since string) {
		if set {
			list = append(list, warn(at.Child(name), "deprecated in "+since))
		}
	}
	gone(v.PhotonPersistentDisk != nil, "photonPersistentDisk", "v1.11, non-functional in v1.16+")
	gone(v.GitRepo != nil, "gitRepo", "v1.11, and disabled by default in v1.33+")
	gone(v.ScaleIO != nil, "scaleIO", "v1.16, non-functional in v1.22+")
	gone(v.Flocker != nil, "flocker", "v1.22, non-functional in v1.25+")
	gone(v.StorageOS != nil, "storageOS", "v1.22, non-functional in v1.25+")
	gone(v.Quobyte != nil, "quobyte", "v1.22, non-functional in v1.25+")
	gone(v.Glusterfs != nil, "glusterfs", "v1.25, non-functional in v1.26+")
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		list = append(list, ClaimWarnings(&v.Ephemeral.VolumeClaimTemplate.Spec, at.Child("ephemeral", "volumeClaimTemplate", "spec"))...)
	}
	gone(v.CephFS != nil, "cephfs", "v1.28, non-functional in v1.31+")
	gone(v.RBD != nil, "rbd", "v1.28, non-functional in v1.31+")
	return list
}

// VolumeWarnings returns the warnings about the spec of a persistent volume.
func VolumeWarnings(v *corev1.PersistentVolumeSpec, at *field.Path) []string {
	var list []string
	if v.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		list = append(list, warn(at.Child("persistentVolumeReclaimPolicy"),
			"The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning."))
	}
	if a := v.NodeAffinity; a != nil && a.Required != nil {
		for i := range a.Required.NodeSelectorTerms {
			list = append(list, warningsForNodeTerm(&a.Required.NodeSelectorTerms[i], nil, at.Child("nodeAffinity", "required", "nodeSelectorTerms").Index(i))...)
		}
	}
	gone := func(set bool, name, since string) {
		if set {
			list = append(list, warn(at.Child(name), "deprecated in "+since))
		}
	}
	gone(v.CephFS != nil, "cephfs", "v1.28, non-functional in v1.31+")
	gone(v.PhotonPersistentDisk != nil, "photonPersistentDisk", "v1.11, non-functional in v1.16+")
	gone(v.ScaleIO != nil, "scaleIO", "v1.16, non-functional in v1.22+")
	gone(v.StorageOS != nil, "storageOS", "v1.22, non-functional in v1.25+")
	gone(v.Glusterfs != nil, "glusterfs", "v1.25, non-functional in v1.26+")
	gone(v.RBD != nil, "rbd", "v1.28, non-functional in v1.31+")
	return list
}

// projectedPath is the path of a file in a volume, with its source if there are several.
type projectedPath struct{ path, source string }

func (p projectedPath) String() string {
	if p.source == "" {
		return fmt.Sprintf("%q", p.path)
	}
	return fmt.Sprintf("%q (%s)", p.path, p.source)
}

func (p projectedPath) overlaps(other projectedPath) bool {
	return p.path != "" && other.path != "" &&
		(p.path == other.path || strings.HasPrefix(p.path, other.path+"/") || strings.HasPrefix(other.path, p.path+"/"))
}

// warningsForPaths returns warnings about files of one volume with equal or nested paths.
func warningsForPaths(volumes []corev1.Volume) []string {
	var list []string
	check := func(name, description string, paths []projectedPath) {
		for i, p := range paths {
			for _, earlier := range paths[:i] {
				if p.overlaps(earlier) {
					list = append(list, fmt.Sprintf("volume %q (%s): overlapping paths: %s with %s", name, description, p, earlier))
				}
			}
		}
	}
	for i := range volumes {
		switch v := &volumes[i]; {
		case v.ConfigMap != nil:
			check(v.Name, fmt.Sprintf("ConfigMap %q", v.ConfigMap.Name), pathsOfKeys(v.ConfigMap.Items, ""))
		case v.Secret != nil:
			check(v.Name, fmt.Sprintf("Secret %q", v.Secret.SecretName), pathsOfKeys(v.Secret.Items, ""))
		case v.DownwardAPI != nil:
			check(v.Name, "DownwardAPI", pathsOfFiles(v.DownwardAPI.Items, ""))
		case v.Projected != nil:
			var paths []projectedPath
			for _, source := range v.Projected.Sources {
				if source == (corev1.VolumeProjection{}) {
					list = append(list, fmt.Sprintf("volume %q (Projected) has no sources provided", v.Name))
				}
				paths = append(paths, pathsOfSource(&source)...)
			}
			check(v.Name, "Projected", paths)
		}
	}
	return list
}

func pathsOfKeys(items []corev1.KeyToPath, source string) []projectedPath {
	var paths []projectedPath
	for _, item := range items {
		paths = append(paths, projectedPath{strings.TrimRight(item.Path, "/"), source})
	}
	return paths
}

func pathsOfFiles(items []corev1.DownwardAPIVolumeFile, source string) []projectedPath {
	var paths []projectedPath
	for _, item := range items {
		paths = append(paths, projectedPath{strings.TrimRight(item.Path, "/"), source})
	}
	return paths
}

func pathsOfSource(s *corev1.VolumeProjection) []projectedPath {
	switch {
	case s.ConfigMap != nil:
		return pathsOfKeys(s.ConfigMap.Items, fmt.Sprintf("ConfigMap %q", s.ConfigMap.Name))
	case s.Secret != nil:
		return pathsOfKeys(s.Secret.Items, fmt.Sprintf("Secret %q", s.Secret.Name))
	case s.DownwardAPI != nil:
		return pathsOfFiles(s.DownwardAPI.Items, "DownwardAPI")
	case s.ServiceAccountToken != nil:
		return []projectedPath{{strings.TrimRight(s.ServiceAccountToken.Path, "/"), "ServiceAccountToken"}}
	case s.ClusterTrustBundle != nil:
		name := s.ClusterTrustBundle.Name
		if name == nil {
			name = s.ClusterTrustBundle.SignerName
		}
		return []projectedPath{{strings.TrimRight(s.ClusterTrustBundle.Path, "/"), fmt.Sprintf("ClusterTrustBundle %q", *name)}}
	}
	return nil
}
