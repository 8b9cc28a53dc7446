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

// limitRangerAnnotation lists the fields that were defaulted.
const limitRangerAnnotation = "kubernetes.io/limit-ranger"

// LimitRanger sets the default requests and limits of containers, and rejects pods and claims that
// violate the limit ranges of their namespace. The step reads the resource "limitranges" of the
// catalog.
func LimitRanger() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "LimitRanger", Admit: defaultLimits, Validate: checkLimits}
}

func defaultLimits(ctx context.Context, a *registry.Attributes) error {
	pod, ok := limitedPod(a)
	if !ok {
		return nil
	}
	ranges, err := limitRanges(ctx, a)
	for _, r := range ranges {
		defaultPodLimits(pod, r)
	}
	return err
}

func checkLimits(ctx context.Context, a *registry.Attributes) error {
	var check func(corev1.LimitRangeItem) []error
	if pod, ok := limitedPod(a); ok {
		check = func(limit corev1.LimitRangeItem) []error { return checkPodLimits(limit, &pod.Spec) }
	} else if claim, ok := limitedClaim(a); ok {
		check = func(limit corev1.LimitRangeItem) []error { return checkClaimLimits(limit, claim) }
	} else {
		return nil
	}
	ranges, err := limitRanges(ctx, a)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		var errs []error
		for _, limit := range r.Spec.Limits {
			errs = append(errs, check(limit)...)
		}
		if len(errs) > 0 {
			return forbidden(a, utilerrors.NewAggregate(errs))
		}
	}
	return nil
}

// limitedPod returns the pod of a write that can set resources: a creation or a resize.
func limitedPod(a *registry.Attributes) (*corev1.Pod, bool) {
	if pod, _, ok := updatedBy[*corev1.Pod](a, "resize"); ok && !isBeingDeleted(a) {
		return pod, true
	}
	return created[*corev1.Pod](a)
}

func limitedClaim(a *registry.Attributes) (*corev1.PersistentVolumeClaim, bool) {
	if claim, _, ok := updated[*corev1.PersistentVolumeClaim](a); ok && !isBeingDeleted(a) {
		return claim, true
	}
	return created[*corev1.PersistentVolumeClaim](a)
}

// isBeingDeleted reports whether the stored object is being deleted. Its deletion must not be
// blocked.
func isBeingDeleted(a *registry.Attributes) bool {
	old, err := meta.Accessor(a.OldObject)
	return err == nil && old.GetDeletionTimestamp() != nil
}

func limitRanges(ctx context.Context, a *registry.Attributes) ([]*corev1.LimitRange, error) {
	ranges, err := listObjects[*corev1.LimitRange](ctx, a, corev1.Resource("limitranges"), a.Namespace)
	if err != nil {
		return nil, forbidden(a, fmt.Errorf("unable to %s %v at this time because there was an error enforcing limit ranges", a.Operation, a.Resource.GroupResource()))
	}
	return ranges, nil
}

// defaultPodLimits sets the defaults of a limit range in containers. It lists them in an
// annotation.
func defaultPodLimits(pod *corev1.Pod, r *corev1.LimitRange) {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	for _, limit := range r.Spec.Limits {
		if limit.Type == corev1.LimitTypeContainer {
			maps.Copy(requests, limit.DefaultRequest)
			maps.Copy(limits, limit.Default)
		}
	}
	var notes []string
	setDefaults := func(kind string, containers []corev1.Container) {
		for i := range containers {
			c := &containers[i]
			notes = appendNote(notes, addMissing(&c.Resources.Requests, requests), "request for "+kind+" "+c.Name)
			notes = appendNote(notes, addMissing(&c.Resources.Limits, limits), "limit for "+kind+" "+c.Name)
		}
	}
	setDefaults("container", pod.Spec.Containers)
	setDefaults("init container", pod.Spec.InitContainers)
	if len(notes) == 0 {
		return
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[limitRangerAnnotation] = "LimitRanger plugin set: " + strings.Join(notes, "; ")
}

// addMissing adds the defaults that a list does not have, and returns their names, sorted.
func addMissing(list *corev1.ResourceList, defaults corev1.ResourceList) []string {
	var added []string
	for name, quantity := range defaults {
		if _, ok := (*list)[name]; ok {
			continue
		}
		if *list == nil {
			*list = corev1.ResourceList{}
		}
		(*list)[name] = quantity.DeepCopy()
		added = append(added, string(name))
	}
	slices.Sort(added)
	return added
}

func appendNote(notes, added []string, field string) []string {
	if len(added) == 0 {
		return notes
	}
	return append(notes, strings.Join(added, ", ")+" "+field)
}
