package plugin

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// mergeTolerations removes duplicates and tolerations that another one of the list covers.
func mergeTolerations(list []corev1.Toleration) []corev1.Toleration {
	var merged []corev1.Toleration
	for i, t := range list {
		coveredBy := func(other corev1.Toleration) bool { return isSuperset(other, t) }
		before := slices.ContainsFunc(merged, func(other corev1.Toleration) bool { return sameToleration(other, t) || coveredBy(other) })
		after := slices.ContainsFunc(list[i+1:], func(other corev1.Toleration) bool { return !sameToleration(other, t) && coveredBy(other) })
		if !before && !after {
			merged = append(merged, t)
		}
	}
	return merged
}

func sameToleration(a, b corev1.Toleration) bool { return equality.Semantic.DeepEqual(a, b) }

// isSuperset reports whether t tolerates all taints that a different toleration tolerates.
func isSuperset(t, other corev1.Toleration) bool {
	matchesAll := t.Key == "" && t.Operator == corev1.TolerationOpExists
	if t.Key != other.Key && !matchesAll || t.Effect != "" && t.Effect != other.Effect {
		return false
	}
	if t.Effect == corev1.TaintEffectNoExecute && t.TolerationSeconds != nil &&
		(other.TolerationSeconds == nil || *other.TolerationSeconds > *t.TolerationSeconds) {
		return false
	}
	switch t.Operator {
	case corev1.TolerationOpExists:
		return true
	case corev1.TolerationOpEqual, "":
		return other.Operator == corev1.TolerationOpEqual && other.Value == t.Value
	default:
		return false
	}
}
