package core

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/internal/resourcelist"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

// preparePod resets the status and completes the spec.
func preparePod(ctx context.Context, p *corev1.Pod, features *feature.Set) {
	requested := p.Status.QOSClass
	if features.Enabled(feature.PodQOSFromSpec) {
		requested = ""
	}
	if features.Enabled(feature.PodLevelResourcesFixDefaulting) {
		completePodResources(&p.Spec)
	}
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: cmp.Or(requested, resourcelist.QOSClass(&p.Spec))}
	if len(p.Spec.SchedulingGates) > 0 {
		p.Status.Conditions = []corev1.PodCondition{{
			Type:               corev1.PodScheduled,
			Status:             corev1.ConditionFalse,
			LastTransitionTime: metav1.NewTime(registry.Now(ctx)),
			Reason:             corev1.PodReasonSchedulingGated,
			Message:            "Scheduling is blocked due to non-empty scheduling gates",
		}}
	}
	podspec.SelectByOwnLabels(p)
	for _, text := range podspec.AdoptAppArmor(p) {
		registry.AddWarning(ctx, text)
	}
}

// preparePodStatus restores the fields that a kubelet does not change or send.
func preparePodStatus(_ context.Context, p, old *corev1.Pod) {
	p.OwnerReferences = old.OwnerReferences
	p.Status.QOSClass = cmp.Or(p.Status.QOSClass, old.Status.QOSClass)
	p.Status.ObservedGeneration = cmp.Or(p.Status.ObservedGeneration, old.Status.ObservedGeneration)
	generations := make(map[corev1.PodConditionType][]int64, len(old.Status.Conditions))
	for _, c := range old.Status.Conditions {
		generations[c.Type] = append(generations[c.Type], c.ObservedGeneration)
	}
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		if list := generations[c.Type]; len(list) > 0 {
			c.ObservedGeneration = cmp.Or(c.ObservedGeneration, list[0])
			generations[c.Type] = list[1:]
		}
	}
}

// countPodGeneration increments the generation if a subresource changes the spec.
func countPodGeneration(p, old *corev1.Pod) {
	p.Generation = old.Generation
	if !kind.Same(&p.Spec, &old.Spec) {
		p.Generation++
	}
}
