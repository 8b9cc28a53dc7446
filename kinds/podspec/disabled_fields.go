package podspec

import (
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

// GatedFields returns the gated fields of a kind that has a pod spec at a path, such as
// spec.template.spec.
func GatedFields(at string) kind.GatedFields {
	return func() []kind.GatedField {
		list := gatedFields()
		for i := range list {
			for j := range list[i].Paths {
				list[i].Paths[j] = at + "." + list[i].Paths[j]
			}
		}
		return list
	}
}

func gatedFields() []kind.GatedField {
	const (
		container = "containers|initContainers|ephemeralContainers."
		probe     = container + "livenessProbe|readinessProbe|startupProbe."
		projected = "volumes.projected.sources."
	)
	return []kind.GatedField{
		{Gate: feature.GenericWorkload, Paths: []string{"schedulingGroup"}},
		{Gate: feature.EvictionRequestAPI, Paths: []string{"evictionResponders"}},
		{Gate: feature.HostnameOverride, Paths: []string{"hostnameOverride"}},
		{Gate: feature.PodLevelResources, Paths: []string{"resources"}},
		{Gate: feature.MatchLabelKeysInPodTopologySpread, Paths: []string{"topologySpreadConstraints.matchLabelKeys"}},
		{Gate: feature.ContainerRestartRules, Paths: []string{
			container + "restartPolicyRules", "containers|ephemeralContainers.restartPolicy",
		}},
		{Gate: feature.ContainerStopSignals, Paths: []string{container + "lifecycle?.stopSignal"}},
		{Gate: feature.EnvFiles, Paths: []string{container + "env.valueFrom.fileKeyRef"}},
		{Gate: feature.VolumeBindMountOptions, Paths: []string{container + "volumeMounts.bindMountOptions"}},
		{Gate: feature.GRPCContainerProbeTLS, Paths: []string{probe + "grpc.mode"}},
		{Gate: feature.H2CContainerProbe, Paths: []string{
			probe + "httpGet.protocol", container + "lifecycle.postStart|preStop.httpGet.protocol",
		}},
		{Gate: feature.EmptyDirVolumeMode, Paths: []string{"volumes.emptyDir.mode"}},
		{Gate: feature.ClusterTrustBundleProjection, Paths: []string{projected + "clusterTrustBundle"}},
		{Gate: feature.PodCertificateRequest, Paths: []string{projected + "podCertificate"}},
		{Gate: feature.AtomicWriteVolumeUserFields, Paths: []string{
			"volumes.secret|configMap|downwardAPI|projected.defaultUser",
			"volumes.secret|configMap|downwardAPI.items.user",
			projected + "secret|configMap|downwardAPI.items.user",
			projected + "serviceAccountToken|clusterTrustBundle|podCertificate.user",
		}},
	}
}
