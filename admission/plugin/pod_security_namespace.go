package plugin

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/pod-security-admission/api"

	"github.com/miniapi/miniapi/admission/match"
	"github.com/miniapi/miniapi/registry"
)

// Limits of the check of existing pods when a namespace becomes stricter.
const (
	maxPodsToCheck  = 3000
	maxTimeToCheck  = time.Second
	podsUnavailable = "failed to list pods while checking new PodSecurity enforce level"
)

// checkSecurityLabels rejects labels that name an unknown standard, unless the stored object has
// the same errors. It warns about existing pods if the enforced standard becomes stricter.
func checkSecurityLabels(ctx context.Context, a *registry.Attributes, namespace *corev1.Namespace) error {
	standards, errs := standardsOf(namespace)
	old, update := a.OldObject.(*corev1.Namespace)
	if !update {
		old = &corev1.Namespace{}
	}
	before, oldErrs := standardsOf(old)
	if len(errs) > 0 && !equality.Semantic.DeepEqual(errs, oldErrs) {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Namespace").GroupKind(), match.ShownName(a), errs)
	}
	if update && stricter(standards.Enforce, before.Enforce) {
		warnOfPods(ctx, a, standards.Enforce)
	}
	return nil
}

// stricter reports whether pods that meet the standard before can violate the new one.
func stricter(standard, before api.LevelVersion) bool {
	if standard.Version == before.Version {
		return api.CompareLevels(standard.Level, before.Level) > 0
	}
	return standard.Level != api.LevelPrivileged
}

// warnOfPods warns about the pods of the namespace that violate a standard.
func warnOfPods(ctx context.Context, a *registry.Attributes, standard api.LevelVersion) {
	ctx, cancel := context.WithTimeout(ctx, timeToCheck(ctx))
	defer cancel()
	pods, err := listObjects[*corev1.Pod](ctx, a, corev1.Resource("pods"), a.Name)
	if err != nil {
		registry.AddWarning(ctx, podsUnavailable)
		return
	}
	pods = onePerControllerFirst(pods)
	checked, found := violators(ctx, pods[:min(len(pods), maxPodsToCheck)], standard)
	if checked < len(pods) {
		registry.AddWarning(ctx, fmt.Sprintf("new PodSecurity enforce level only checked against the first %d of %d existing pods", checked, len(pods)))
	}
	if len(found) == 0 {
		return
	}
	registry.AddWarning(ctx, fmt.Sprintf("existing pods in namespace %q violate the new PodSecurity enforce level %q", a.Name, standard.String()))
	for _, text := range describeViolators(found) {
		registry.AddWarning(ctx, text)
	}
}

// timeToCheck returns the time limit of the check, at most half of the time left for the request.
func timeToCheck(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(maxTimeToCheck, time.Until(deadline)/2)
	}
	return maxTimeToCheck
}

// onePerControllerFirst moves all but the first pod of each controller to the end, because pods of
// one controller are much alike.
func onePerControllerFirst(pods []*corev1.Pod) []*corev1.Pod {
	seen := map[types.UID]bool{}
	var first, more []*corev1.Pod
	for _, pod := range pods {
		owner := metav1.GetControllerOfNoCopy(pod)
		if owner != nil && seen[owner.UID] {
			more = append(more, pod)
			continue
		}
		if owner != nil {
			seen[owner.UID] = true
		}
		first = append(first, pod)
	}
	return append(first, more...)
}

// violators returns the names of pods that violate a standard, by violation, and the number of pods
// checked until the context ended.
func violators(ctx context.Context, pods []*corev1.Pod, standard api.LevelVersion) (checked int, found map[string][]string) {
	found = map[string][]string{}
	for i, pod := range pods {
		result := assess(standard, &corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec})
		if !result.Allowed {
			reason := result.ForbiddenReason()
			found[reason] = append(found[reason], pod.Name)
		}
		if ctx.Err() != nil {
			return i + 1, found
		}
	}
	return len(pods), found
}

func describeViolators(found map[string][]string) []string {
	var lines []string
	for reason, names := range found {
		line := slices.Min(names)
		switch others := len(names) - 1; others {
		case 0:
		case 1:
			line += " (and 1 other pod)"
		default:
			line += fmt.Sprintf(" (and %d other pods)", others)
		}
		lines = append(lines, line+": "+reason)
	}
	slices.Sort(lines)
	return lines
}
