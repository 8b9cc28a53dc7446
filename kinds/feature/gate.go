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
	APIServerIdentity                                Gate = "APIServerIdentity"
	AllowInsecureKubeletCertificateSigningRequests   Gate = "AllowInsecureKubeletCertificateSigningRequests"
	AtomicWriteVolumeUserFields                      Gate = "AtomicWriteVolumeUserFields"
	CBORServingAndStorage                            Gate = "CBORServingAndStorage"
	CSIVolumeHealth                                  Gate = "CSIVolumeHealth"
	ClusterTrustBundle                               Gate = "ClusterTrustBundle"
	ClusterTrustBundleProjection                     Gate = "ClusterTrustBundleProjection"
	ConstrainedImpersonation                         Gate = "ConstrainedImpersonation"
	ContainerRestartRules                            Gate = "ContainerRestartRules"
	ContainerStopSignals                             Gate = "ContainerStopSignals"
	CoordinatedLeaderElection                        Gate = "CoordinatedLeaderElection"
	CrossNamespaceVolumeDataSource                   Gate = "CrossNamespaceVolumeDataSource"
	DRAConsumableCapacity                            Gate = "DRAConsumableCapacity"
	DRADerivedAttributes                             Gate = "DRADerivedAttributes"
	DRADeviceBindingConditions                       Gate = "DRADeviceBindingConditions"
	DRADeviceCompatibilityGroups                     Gate = "DRADeviceCompatibilityGroups"
	DRADeviceTaintRules                              Gate = "DRADeviceTaintRules"
	DRADeviceTaints                                  Gate = "DRADeviceTaints"
	DRAExtendedResource                              Gate = "DRAExtendedResource"
	DRAListTypeAttributes                            Gate = "DRAListTypeAttributes"
	DRANodeAllocatableResources                      Gate = "DRANodeAllocatableResources"
	DRAOptionalNodeOperations                        Gate = "DRAOptionalNodeOperations"
	DRAPartitionableDevices                          Gate = "DRAPartitionableDevices"
	DRAPartitionableDevicesType                      Gate = "DRAPartitionableDevicesType"
	DRAPrioritizedList                               Gate = "DRAPrioritizedList"
	DRAResourceClaimDeviceStatus                     Gate = "DRAResourceClaimDeviceStatus"
	EmptyDirVolumeMode                               Gate = "EmptyDirVolumeMode"
	EnvFiles                                         Gate = "EnvFiles"
	EvictionRequestAPI                               Gate = "EvictionRequestAPI"
	ExcludeAdmissionWebhookVirtualResources          Gate = "ExcludeAdmissionWebhookVirtualResources"
	GRPCContainerProbeTLS                            Gate = "GRPCContainerProbeTLS"
	GenericWorkload                                  Gate = "GenericWorkload"
	H2CContainerProbe                                Gate = "H2CContainerProbe"
	HPAConfigurableTolerance                         Gate = "HPAConfigurableTolerance"
	HPAGeneration                                    Gate = "HPAGeneration"
	HPAScaleToZero                                   Gate = "HPAScaleToZero"
	HostnameOverride                                 Gate = "HostnameOverride"
	ImageVolumeWithDigest                            Gate = "ImageVolumeWithDigest"
	InPlacePodLevelResourcesVerticalScaling          Gate = "InPlacePodLevelResourcesVerticalScaling"
	InPlacePodVerticalScalingSchedulerPreemption     Gate = "InPlacePodVerticalScalingSchedulerPreemption"
	KubeletInUserNamespace                           Gate = "KubeletInUserNamespace"
	KubeletServiceAccountTokenForCredentialProviders Gate = "KubeletServiceAccountTokenForCredentialProviders"
	ManifestBasedAdmissionControlConfig              Gate = "ManifestBasedAdmissionControlConfig"
	MatchLabelKeysInPodTopologySpread                Gate = "MatchLabelKeysInPodTopologySpread"
	MaxUnavailableStatefulSet                        Gate = "MaxUnavailableStatefulSet"
	NodeDeclaredFeatures                             Gate = "NodeDeclaredFeatures"
	PodCertificateRequest                            Gate = "PodCertificateRequest"
	PodLevelResources                                Gate = "PodLevelResources"
	PodLevelResourcesFixDefaulting                   Gate = "PodLevelResourcesFixDefaulting"
	RecoverVolumeExpansionFailure                    Gate = "RecoverVolumeExpansionFailure"
	ResourceHealthStatus                             Gate = "ResourceHealthStatus"
	ResourceHealthStatusMessage                      Gate = "ResourceHealthStatusMessage"
	SELinuxMount                                     Gate = "SELinuxMount"
	ServiceAccountNodeAudienceRestriction            Gate = "ServiceAccountNodeAudienceRestriction"
	StatefulSetRecreateStrategy                      Gate = "StatefulSetRecreateStrategy"
	StorageVersionMigrator                           Gate = "StorageVersionMigrator"
	TaintTolerationComparisonOperators               Gate = "TaintTolerationComparisonOperators"
	UserNamespacesHostNetworkSupport                 Gate = "UserNamespacesHostNetworkSupport"
	VolumeBindMountOptions                           Gate = "VolumeBindMountOptions"
	VolumeLimitScaling                               Gate = "VolumeLimitScaling"
	WatchListCompression                             Gate = "WatchListCompression"
	WorkloadWithJob                                  Gate = "WorkloadWithJob"
)

// The changes of kube-apiserver that have no gate.
const (
	// CSINodeStatus is the subresource status of CSINodes.
	CSINodeStatus Gate = "csiNodeStatus"
	// DefinitionColumns are the columns of CustomResourceDefinitions other than name and creation.
	DefinitionColumns Gate = "definitionColumns"
	// DefinitionPreconditions is the message of a failed precondition of the deletion of a
	// CustomResourceDefinition.
	DefinitionPreconditions Gate = "definitionPreconditions"
	// FieldNamesInDocs are field descriptions that begin with the JSON name of the field.
	FieldNamesInDocs Gate = "fieldNamesInDocs"
	// ImmutableStatefulSetFields are separate errors for immutable fields of StatefulSets.
	ImmutableStatefulSetFields Gate = "immutableStatefulSetFields"
	// PodQOSFromSpec is the QoS class of a new pod that ignores the class in the request.
	PodQOSFromSpec Gate = "podQOSFromSpec"
	// PoolNameSelector is the field selector spec.pool.name of ResourceSlices.
	PoolNameSelector Gate = "poolNameSelector"
	// DefaultClassOfList marks only the newest default StorageClass of a Table, and no class in a
	// Table of one class.
	DefaultClassOfList Gate = "defaultClassOfList"
	// ProxyToEndpointSlices finds the endpoints of a proxied service in its EndpointSlices instead
	// of its Endpoints.
	ProxyToEndpointSlices Gate = "proxyToEndpointSlices"
	// TagValidation is the validation by tags of the API types, whose errors replace other errors.
	// It also removes duplicate errors.
	TagValidation Gate = "tagValidation"
)
