package feature

import "unicode"

// Gate is the name of a row of gates.txt.
type Gate string

// Always is enabled in every release.
const Always Gate = ""

// fixed reports whether the gate is no gate of kube-apiserver and cannot be set.
func (g Gate) fixed() bool { return g == Always || unicode.IsLower(rune(g[0])) }

// The feature gates of kube-apiserver that the server evaluates.
const (
	CSIVolumeHealth                Gate = "CSIVolumeHealth"
	ClusterTrustBundle             Gate = "ClusterTrustBundle"
	CoordinatedLeaderElection      Gate = "CoordinatedLeaderElection"
	CrossNamespaceVolumeDataSource Gate = "CrossNamespaceVolumeDataSource"
	DRADeviceTaintRules            Gate = "DRADeviceTaintRules"
	DRAListTypeAttributes          Gate = "DRAListTypeAttributes"
	HPAGeneration                  Gate = "HPAGeneration"
	MaxUnavailableStatefulSet      Gate = "MaxUnavailableStatefulSet"
	PodCertificateRequest          Gate = "PodCertificateRequest"
	StorageVersionMigrator         Gate = "StorageVersionMigrator"
	VolumeLimitScaling             Gate = "VolumeLimitScaling"
)
