package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"
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

// checkLabels rejects labels that name an unknown standard, unless the stored object has the same
// errors. It warns about existing pods if the enforced standard becomes stricter, and about labels
// of an exempt namespace.
func (c PodSecurityConfig) checkLabels(ctx context.Context, a *registry.Attributes, namespace *corev1.Namespace) error {
	standards, errs := c.standardsOf(namespace)
	old, update := a.OldObject.(*corev1.Namespace)
	if !update {
		old = &corev1.Namespace{}
	}
	before, oldErrs := c.standardsOf(old)
	if len(errs) > 0 && !equality.Semantic.DeepEqual(errs, oldErrs) {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Namespace").GroupKind(), match.ShownName(a), errs)
	}
	switch {
	case update && !stricter(standards.Enforce, before.Enforce):
	case slices.Contains(c.Exemptions.Namespaces, namespace.Name):
		c.warnOfExemption(ctx, namespace, standards)
	case update:
		c.warnOfPods(ctx, a, standards.Enforce)
	}
	return nil
}

// warnOfExemption warns about labels of an exempt namespace that differ from the defaults.
func (c PodSecurityConfig) warnOfExemption(ctx context.Context, namespace *corev1.Namespace, standards api.Policy) {
	if standards.FullyPrivileged() || standards.Equivalent(&c.Defaults) {
		return
	}
	var labeled []string
	add := func(mode string, standard api.LevelVersion, labels ...string) {
		set := slices.ContainsFunc(labels, func(label string) bool { _, ok := namespace.Labels[label]; return ok })
		if set && standard.Level != api.LevelPrivileged {
			labeled = append(labeled, mode+"="+standard.String())
		}
	}
	add("enforce", standards.Enforce, api.EnforceLevelLabel, api.EnforceVersionLabel)
	add("audit", standards.Audit, api.AuditLevelLabel, api.AuditVersionLabel)
	add("warn", standards.Warn, api.WarnLevelLabel, api.WarnVersionLabel)
	registry.AddWarning(ctx, fmt.Sprintf("namespace %q is exempt from Pod Security, and the policy (%s) will be ignored",
		namespace.Name, strings.Join(labeled, ", ")))
}

// stricter reports whether pods that meet the standard before can violate the new one.
func stricter(standard, before api.LevelVersion) bool {
	if standard.Version == before.Version {
		return api.CompareLevels(standard.Level, before.Level) > 0
	}
	return standard.Level != api.LevelPrivileged
}

// warnOfPods warns about the pods of the namespace that violate a standard and have no exempt
// runtime class.
func (c PodSecurityConfig) warnOfPods(ctx context.Context, a *registry.Attributes, standard api.LevelVersion) {
	ctx, cancel := context.WithTimeout(ctx, timeToCheck(ctx))
	defer cancel()
	pods, err := listObjects[*corev1.Pod](ctx, a, corev1.Resource("pods"), a.Name)
	if err != nil {
		registry.AddWarning(ctx, podsUnavailable)
		return
	}
	pods = slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return c.hasExemptRuntimeClass(&pod.Spec) })
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
