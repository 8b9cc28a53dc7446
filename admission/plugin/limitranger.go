package plugin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/miniapi/miniapi/registry"
)

// limitRangerNote names the fields that were filled in.
const limitRangerNote = "kubernetes.io/limit-ranger"

// LimitRanger fills in what containers ask for and are limited to, and holds
// pods and claims to the limits of their namespace. It needs a resource
// "limitranges" in the same catalog.
func LimitRanger() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "LimitRanger", Admit: fillLimits, Validate: checkLimits}
}

func fillLimits(ctx context.Context, a *registry.Attributes) error {
	pod, ok := limitedPod(a)
	if !ok {
		return nil
	}
	ranges, err := limitRanges(ctx, a)
	for _, r := range ranges {
		fillPod(pod, r)
	}
	return err
}

func checkLimits(ctx context.Context, a *registry.Attributes) error {
	var check func(corev1.LimitRangeItem) []error
	if pod, ok := limitedPod(a); ok {
		check = func(limit corev1.LimitRangeItem) []error { return podFaults(limit, &pod.Spec) }
	} else if claim, ok := limitedClaim(a); ok {
		check = func(limit corev1.LimitRangeItem) []error { return claimFaults(limit, claim) }
	} else {
		return nil
	}
	ranges, err := limitRanges(ctx, a)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		var faults []error
		for _, limit := range r.Spec.Limits {
			faults = append(faults, check(limit)...)
		}
		if len(faults) > 0 {
			return forbidden(a, utilerrors.NewAggregate(faults))
		}
	}
	return nil
}

// limitedPod returns the pod of a write that decides on resources: its creation
// or a resize.
func limitedPod(a *registry.Attributes) (*corev1.Pod, bool) {
	if pod, _, ok := updatedBy[*corev1.Pod](a, "resize"); ok && !leaving(a) {
		return pod, true
	}
	return created[*corev1.Pod](a)
}

func limitedClaim(a *registry.Attributes) (*corev1.PersistentVolumeClaim, bool) {
	if claim, _, ok := updated[*corev1.PersistentVolumeClaim](a); ok && !leaving(a) {
		return claim, true
	}
	return created[*corev1.PersistentVolumeClaim](a)
}

// leaving tells whether an object is being deleted: nothing may stand in its way.
func leaving(a *registry.Attributes) bool {
	old, err := meta.Accessor(a.OldObject)
	return err == nil && old.GetDeletionTimestamp() != nil
}

func limitRanges(ctx context.Context, a *registry.Attributes) ([]*corev1.LimitRange, error) {
	ranges, err := all[*corev1.LimitRange](ctx, a, corev1.Resource("limitranges"), a.Namespace)
	if err != nil {
		return nil, forbidden(a, fmt.Errorf("unable to %s %v at this time because there was an error enforcing limit ranges", a.Operation, a.Store.Resource().GroupResource()))
	}
	return ranges, nil
}

// fillPod gives containers the defaults of a range, and says so in the pod.
func fillPod(pod *corev1.Pod, r *corev1.LimitRange) {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	for _, limit := range r.Spec.Limits {
		if limit.Type == corev1.LimitTypeContainer {
			maps.Copy(requests, limit.DefaultRequest)
			maps.Copy(limits, limit.Default)
		}
	}
	var notes []string
	fill := func(kind string, containers []corev1.Container) {
		for i := range containers {
			c := &containers[i]
			notes = appendNote(notes, fillMissing(&c.Resources.Requests, requests), "request for "+kind+" "+c.Name)
			notes = appendNote(notes, fillMissing(&c.Resources.Limits, limits), "limit for "+kind+" "+c.Name)
		}
	}
	fill("container", pod.Spec.Containers)
	fill("init container", pod.Spec.InitContainers)
	if len(notes) == 0 {
		return
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[limitRangerNote] = "LimitRanger plugin set: " + strings.Join(notes, "; ")
}

// fillMissing returns what it filled in, sorted.
func fillMissing(list *corev1.ResourceList, defaults corev1.ResourceList) []string {
	var filled []string
	for name, quantity := range defaults {
		if _, ok := (*list)[name]; ok {
			continue
		}
		if *list == nil {
			*list = corev1.ResourceList{}
		}
		(*list)[name] = quantity.DeepCopy()
		filled = append(filled, string(name))
	}
	slices.Sort(filled)
	return filled
}

func appendNote(notes, filled []string, what string) []string {
	if len(filled) == 0 {
		return notes
	}
	return append(notes, strings.Join(filled, ", ")+" "+what)
}
