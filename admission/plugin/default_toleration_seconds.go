package plugin

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/registry"
)

// DefaultTolerationSeconds lets pods tolerate the taints not-ready and unreachable for five
// minutes, unless they have tolerations for them.
func DefaultTolerationSeconds() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "DefaultTolerationSeconds", Admit: addTolerations}
}

func addTolerations(_ context.Context, a *registry.Attributes) error {
	pod, ok := written[*corev1.Pod](a)
	if !ok {
		return nil
	}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		if slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return tolerates(t, key) }) {
			continue
		}
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
			Key:               key,
			Operator:          corev1.TolerationOpExists,
			Effect:            corev1.TaintEffectNoExecute,
			TolerationSeconds: new(int64(300)),
		})
	}
	return nil
}

// tolerates reports whether a toleration applies to a taint with effect NoExecute.
func tolerates(t corev1.Toleration, taint string) bool {
	return (t.Key == taint || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
}
