package plugin

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// mergeTolerations leaves out what is tolerated by another one of the list. Of
// equal ones the first stays.
func mergeTolerations(list []corev1.Toleration) []corev1.Toleration {
	var merged []corev1.Toleration
	for i, t := range list {
		covers := func(other corev1.Toleration) bool { return toleratesMore(other, t) }
		before := slices.ContainsFunc(merged, func(other corev1.Toleration) bool { return sameToleration(other, t) || covers(other) })
		behind := slices.ContainsFunc(list[i+1:], func(other corev1.Toleration) bool { return !sameToleration(other, t) && covers(other) })
		if !before && !behind {
			merged = append(merged, t)
		}
	}
	return merged
}

func sameToleration(a, b corev1.Toleration) bool { return equality.Semantic.DeepEqual(a, b) }

// toleratesMore tells whether one toleration covers all that another one does,
// and is not just the same.
func toleratesMore(t, than corev1.Toleration) bool {
	everything := t.Key == "" && t.Operator == corev1.TolerationOpExists
	if t.Key != than.Key && !everything || t.Effect != "" && t.Effect != than.Effect {
		return false
	}
	if t.Effect == corev1.TaintEffectNoExecute && t.TolerationSeconds != nil &&
		(than.TolerationSeconds == nil || *than.TolerationSeconds > *t.TolerationSeconds) {
		return false
	}
	switch t.Operator {
	case corev1.TolerationOpExists:
		return true
	case corev1.TolerationOpEqual, "":
		return than.Operator == corev1.TolerationOpEqual && than.Value == t.Value
	default:
		return false
	}
}
