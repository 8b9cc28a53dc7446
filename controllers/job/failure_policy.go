package job

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// matchFailurePolicy returns the action of the first rule that matches a failed pod, and the
// message for the failure of the Job. Without a match the pod counts as failed.
func matchFailurePolicy(policy *batchv1.PodFailurePolicy, pod *corev1.Pod) (action batchv1.PodFailurePolicyAction, message string) {
	if policy == nil {
		return batchv1.PodFailurePolicyActionCount, ""
	}
	for i, rule := range policy.Rules {
		if rule.OnExitCodes != nil {
			if c := findExit(&pod.Status, rule.OnExitCodes); c != nil {
				return rule.Action, fmt.Sprintf("Container %s for pod %s/%s failed with exit code %v matching %v rule at index %d",
					c.Name, pod.Namespace, pod.Name, c.State.Terminated.ExitCode, rule.Action, i)
			}
			continue
		}
		if c := findPattern(pod.Status.Conditions, rule.OnPodConditions); c != nil {
			return rule.Action, fmt.Sprintf("Pod %s/%s has condition %v matching %v rule at index %d",
				pod.Namespace, pod.Name, c.Type, rule.Action, i)
		}
	}
	return batchv1.PodFailurePolicyActionCount, ""
}

// findExit returns the first container that has failed with one of the required exit codes.
func findExit(status *corev1.PodStatus, required *batchv1.PodFailurePolicyOnExitCodesRequirement) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{status.ContainerStatuses, status.InitContainerStatuses} {
		for i := range list {
			c, end := &list[i], list[i].State.Terminated
			if end == nil || end.ExitCode == 0 || required.ContainerName != nil && *required.ContainerName != c.Name {
				continue
			}
			listed := slices.Contains(required.Values, end.ExitCode)
			if listed == (required.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) {
				return c
			}
		}
	}
	return nil
}

func findPattern(conditions []corev1.PodCondition, patterns []batchv1.PodFailurePolicyOnPodConditionsPattern) *corev1.PodCondition {
	for i := range conditions {
		c := &conditions[i]
		if slices.ContainsFunc(patterns, func(p batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
			return p.Type == c.Type && p.Status == c.Status
		}) {
			return c
		}
	}
	return nil
}
