package core

import (
	"cmp"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func pods() *registry.Resource {
	return kind.Definition{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.Pod{},
		List:         &corev1.PodList{},
		Resource:     "pods",
		ShortNames:   []string{"po"},
		Categories:   []string{"all"},
		Namespaced:   true,
		Generation:   true,
		Status:       true,
		Default:      kind.Defaults(defaultPod),
		Strategy:     podStrategy(),
		StatusStrategy: registry.UpdateStrategy{
			Prepare:  kind.OnUpdate(preparePodStatus),
			Validate: kind.CheckUpdate(validatePodStatus),
			Owns:     kind.Except("spec", "metadata.deletionTimestamp", "metadata.ownerReferences"),
		},
		FieldLabel: podFieldLabel,
		Fields:     kind.Fields(podFields),
		Columns:    registry.Columns{Definitions: podColumns(), Row: podRow},
		Subresources: []registry.Subresource{
			podBinding(), podEphemeralContainers(), podEviction(), podResize(),
			podExec(), podAttach(), podPortForward(), podLog(), podProxy(),
		},
	}.Build()
}

func podStrategy() registry.Strategy {
	return registry.Strategy{
		Create: registry.CreateStrategy{
			Prepare:  kind.OnCreate(preparePod),
			Validate: kind.CheckCreate(validateNewPod),
			Warnings: kind.WarnCreate(warnOfPod),
		},
		Update: registry.UpdateStrategy{AllowUnconditional: true, Validate: kind.CheckUpdate(validatePodUpdate)},
		Delete: registry.DeleteStrategy{
			GracePeriod: func(obj runtime.Object, opts *metav1.DeleteOptions) *int64 {
				return new(podGracePeriod(obj.(*corev1.Pod), opts))
			},
			ReturnObject: true,
		},
	}
}

func preparePod(p *corev1.Pod) {
	p.Status.Phase = corev1.PodPending
	p.Status.QOSClass = podQOS(p)
	if len(p.Spec.SchedulingGates) > 0 {
		p.Status.Conditions = []corev1.PodCondition{{
			Type:    corev1.PodScheduled,
			Status:  corev1.ConditionFalse,
			Reason:  corev1.PodReasonSchedulingGated,
			Message: "Scheduling is blocked due to non-empty scheduling gates",
		}}
	}
}

// podGracePeriod is 0 where no kubelet has anything to stop.
func podGracePeriod(p *corev1.Pod, opts *metav1.DeleteOptions) int64 {
	if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
		return 0
	}
	period := opts.GracePeriodSeconds
	if period == nil {
		period = p.Spec.TerminationGracePeriodSeconds
	}
	switch {
	case period == nil:
		return 0
	case *period < 0:
		return 1
	default:
		return *period
	}
}

// preparePodStatus keeps what a kubelet may not change, or forgets to send.
func preparePodStatus(p, old *corev1.Pod) {
	p.OwnerReferences = old.OwnerReferences
	p.Status.QOSClass = cmp.Or(p.Status.QOSClass, old.Status.QOSClass)
	p.Status.ObservedGeneration = cmp.Or(p.Status.ObservedGeneration, old.Status.ObservedGeneration)
	generations := make(map[corev1.PodConditionType]int64, len(old.Status.Conditions))
	for _, c := range old.Status.Conditions {
		generations[c.Type] = c.ObservedGeneration
	}
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		c.ObservedGeneration = cmp.Or(c.ObservedGeneration, generations[c.Type])
	}
}

// countPodGeneration is for the subresources that change the spec.
func countPodGeneration(p, old *corev1.Pod) {
	p.Generation = old.Generation
	if !equality.Semantic.DeepEqual(p.Spec, old.Spec) {
		p.Generation++
	}
}

func podFieldLabel(label, value string) (hubLabel, hubValue string, err error) {
	if label == "spec.host" {
		// The name of spec.nodeName in the oldest clients.
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

func warnOfPod(p *corev1.Pod) []string {
	var warnings []string
	if messages := validation.IsDNS1123Label(p.Name); len(messages) > 0 {
		warnings = append(warnings, fmt.Sprintf("metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: %v", messages))
	}
	return append(warnings, podspec.Warnings(p)...)
}
