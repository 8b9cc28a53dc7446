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
	AtomicWriteVolumeUserFields    Gate = "AtomicWriteVolumeUserFields"
	CSIVolumeHealth                Gate = "CSIVolumeHealth"
	ClusterTrustBundle             Gate = "ClusterTrustBundle"
	ClusterTrustBundleProjection   Gate = "ClusterTrustBundleProjection"
	ContainerStopSignals           Gate = "ContainerStopSignals"
	CoordinatedLeaderElection      Gate = "CoordinatedLeaderElection"
	CrossNamespaceVolumeDataSource Gate = "CrossNamespaceVolumeDataSource"
	DRADeviceTaintRules            Gate = "DRADeviceTaintRules"
	DRAListTypeAttributes          Gate = "DRAListTypeAttributes"
	EmptyDirVolumeMode             Gate = "EmptyDirVolumeMode"
	EvictionRequestAPI             Gate = "EvictionRequestAPI"
	GRPCContainerProbeTLS          Gate = "GRPCContainerProbeTLS"
	GenericWorkload                Gate = "GenericWorkload"
	H2CContainerProbe              Gate = "H2CContainerProbe"
	HPAGeneration                  Gate = "HPAGeneration"
	MaxUnavailableStatefulSet      Gate = "MaxUnavailableStatefulSet"
	PodCertificateRequest          Gate = "PodCertificateRequest"
	StorageVersionMigrator         Gate = "StorageVersionMigrator"
	VolumeBindMountOptions         Gate = "VolumeBindMountOptions"
	VolumeLimitScaling             Gate = "VolumeLimitScaling"
	WorkloadWithJob                Gate = "WorkloadWithJob"
)

// The changes of kube-apiserver that have no gate.
const (
	// CSINodeStatus is the subresource status of CSINodes.
	CSINodeStatus Gate = "csiNodeStatus"
	// DefinitionColumns are the columns of CustomResourceDefinitions other than name and creation.
	DefinitionColumns Gate = "definitionColumns"
	// FieldNamesInDocs are field descriptions that begin with the JSON name of the field.
	FieldNamesInDocs Gate = "fieldNamesInDocs"
	// ImmutableStatefulSetFields are separate errors for immutable fields of StatefulSets.
	ImmutableStatefulSetFields Gate = "immutableStatefulSetFields"
	// PoolNameSelector is the field selector spec.pool.name of ResourceSlices.
	PoolNameSelector Gate = "poolNameSelector"
	// TagValidation is the validation by tags of the API types, whose errors replace other errors.
	// It also removes duplicate errors.
	TagValidation Gate = "tagValidation"
)
