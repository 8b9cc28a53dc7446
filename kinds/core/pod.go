package core

import (
	"context"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func pods(features *feature.Set) *registry.Resource {
	disabled := kind.NewDisabledFields[*corev1.Pod](gatedPodFields, features)
	return kind.Definition[*corev1.Pod]{
		GroupVersion:         corev1.SchemeGroupVersion,
		Object:               &corev1.Pod{},
		List:                 &corev1.PodList{},
		Resource:             "pods",
		GenerateNameOnUpdate: true,
		ShortNames:           []string{"po"},
		Categories:           []string{"all"},
		Namespaced:           true,
		Generation:           true,
		Status:               true,
		// preparePod uses one field of the status that a client sends.
		StatusOnCreate: true,
		Default:        func(p *corev1.Pod) { defaultPod(p, features) },

		WarningsOnCreate:         warningsForPod,
		PrepareForCreate:         func(ctx context.Context, p *corev1.Pod) { preparePod(ctx, p, features) },
		ValidateCreate:           func(p *corev1.Pod) field.ErrorList { return validateNewPod(p, features) },
		AllowUnconditionalUpdate: true,
		PrepareForUpdate: func(_ context.Context, p, old *corev1.Pod) {
			if features.Enabled(feature.PodLevelResourcesFixDefaulting) {
				keepPodResources(p, old)
			}
		},
		GatedFields:            gatedPodFields,
		ValidateUpdate:         func(p, old *corev1.Pod) field.ErrorList { return validatePodUpdate(p, old, features) },
		GracePeriod:            podGracePeriod,
		ReturnDeletedObject:    true,
		PrepareForStatusUpdate: preparePodStatus,
		ValidateStatusUpdate:   validatePodStatus,
		WarningsOnStatusUpdate: warningsForPodStatus,
		StatusOwns:             kind.Except("spec", "metadata.deletionTimestamp", "metadata.ownerReferences"),
		FieldLabel:             podFieldLabel,
		Fields:                 podFields,
		Columns:                podColumns(),
		RowConditions:          podRowConditions,
		Subresources: []registry.Subresource{
			podBinding(), podEphemeralContainers(features, disabled), podEviction(), podResize(features, disabled),
			podExec(), podAttach(), podPortForward(), podLog(), podProxy(),
		},
	}.Build(features)
}

func gatedPodFields() []kind.GatedField {
	const container = "status.containerStatuses|initContainerStatuses|ephemeralContainerStatuses."
	return append(podspec.GatedFields("spec")(), []kind.GatedField{
		{Gate: feature.InPlacePodLevelResourcesVerticalScaling, Paths: []string{"status.resources|allocatedResources"}},
		{Gate: feature.DRAExtendedResource, Paths: []string{"status.extendedResourceClaimStatus"}},
		{Gate: feature.DRANodeAllocatableResources, Paths: []string{"status.nodeAllocatableResourceClaimStatuses"}},
		{Gate: feature.CSIVolumeHealth, Paths: []string{"status.volumeHealth"}},
		{Gate: feature.ResourceHealthStatus, Paths: []string{container + "allocatedResourcesStatus"}},
		{Gate: feature.ResourceHealthStatusMessage, Paths: []string{container + "allocatedResourcesStatus.resources.message"}},
		{Gate: feature.ImageVolumeWithDigest, Paths: []string{container + "volumeMounts.volumeStatus"}},
	}...)
}

// podGracePeriod is 0 for a pod without running containers.
func podGracePeriod(p *corev1.Pod, opts *metav1.DeleteOptions) *int64 {
	if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
		return new(int64(0))
	}
	period := opts.GracePeriodSeconds
	if period == nil {
		period = p.Spec.TerminationGracePeriodSeconds
	}
	switch {
	case period == nil:
		return new(int64(0))
	case *period < 0:
		return new(int64(1))
	default:
		return new(*period)
	}
}

func podFieldLabel(label, value string) (hubLabel, hubValue string, err error) {
	if label == "spec.host" {
		// Old clients use the name spec.host.
		label = "spec.nodeName"
	}
	return kind.FieldLabels(
		"metadata.name", "metadata.namespace",
		"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
		"status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName",
	)(label, value)
}

func podFields(p *corev1.Pod) fields.Set {
	return fields.Set{
		"spec.nodeName":            p.Spec.NodeName,
		"spec.restartPolicy":       string(p.Spec.RestartPolicy),
		"spec.schedulerName":       p.Spec.SchedulerName,
		"spec.serviceAccountName":  p.Spec.ServiceAccountName,
		"spec.hostNetwork":         strconv.FormatBool(p.Spec.HostNetwork),
		"status.phase":             string(p.Status.Phase),
		"status.podIP":             podIP(p),
		"status.nominatedNodeName": p.Status.NominatedNodeName,
	}
}
