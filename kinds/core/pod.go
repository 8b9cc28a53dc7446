package core

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func pods(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.Pod]{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.Pod{},
		List:         &corev1.PodList{},
		Resource:     "pods",
		ShortNames:   []string{"po"},
		Categories:   []string{"all"},
		Namespaced:   true,
		Generation:   true,
		Status:       true,
		// preparePod uses one field of the status that a client sends.
		StatusOnCreate: true,
		Default:        defaultPod,

		WarningsOnCreate:         warningsForPod,
		PrepareForCreateContext:  preparePod,
		ValidateCreate:           validateNewPod,
		AllowUnconditionalUpdate: true,
		GatedFields:              podspec.GatedFields(func(p *corev1.Pod) *corev1.PodSpec { return &p.Spec }),
		ValidateUpdate:           validatePodUpdate,
		GracePeriod:              podGracePeriod,
		ReturnDeletedObject:      true,
		PrepareForStatusUpdate:   preparePodStatus,
		ValidateStatusUpdate:     validatePodStatus,
		WarningsOnStatusUpdate:   warningsForPodStatus,
		StatusOwns:               kind.Except("spec", "metadata.deletionTimestamp", "metadata.ownerReferences"),
		FieldLabel:               podFieldLabel,
		Fields:                   podFields,
		Columns:                  podColumns(),
		RowConditions:            podRowConditions,
		Subresources: []registry.Subresource{
			podBinding(), podEphemeralContainers(features), podEviction(), podResize(),
			podExec(), podAttach(), podPortForward(), podLog(), podProxy(),
		},
	}.Build(features)
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
