package pods

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
)

// SelectsNode reports whether the node selector and the required node affinity of a pod allow a
// node.
func SelectsNode(spec *corev1.PodSpec, node *corev1.Node) bool {
	if !labels.SelectorFromSet(spec.NodeSelector).Matches(labels.Set(node.Labels)) {
		return false
	}
	affinity := spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	terms := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return slices.ContainsFunc(terms, func(term corev1.NodeSelectorTerm) bool { return termMatches(term, node) })
}

// termMatches reports whether all requirements of a term are met. An empty term matches no node.
func termMatches(term corev1.NodeSelectorTerm, node *corev1.Node) bool {
	unmet := func(values map[string]string) func(corev1.NodeSelectorRequirement) bool {
		return func(r corev1.NodeSelectorRequirement) bool { return !requirementMet(r, values) }
	}
	return len(term.MatchExpressions)+len(term.MatchFields) > 0 &&
		!slices.ContainsFunc(term.MatchExpressions, unmet(node.Labels)) &&
		!slices.ContainsFunc(term.MatchFields, unmet(map[string]string{metav1.ObjectNameField: node.Name}))
}

func requirementMet(r corev1.NodeSelectorRequirement, values map[string]string) bool {
	value, ok := values[r.Key]
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return ok && slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !ok || !slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpExists:
		return ok
	case corev1.NodeSelectorOpDoesNotExist:
		return !ok
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		return ok && len(r.Values) == 1 && compares(r.Operator, value, r.Values[0])
	}
	return false
}

// compares reports whether a value is greater or less than a limit. Both must be integers.
func compares(operator corev1.NodeSelectorOperator, value, limit string) bool {
	v, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return false
	}
	l, err := strconv.ParseInt(limit, 10, 64)
	if err != nil {
		return false
	}
	return operator == corev1.NodeSelectorOpGt && v > l || operator == corev1.NodeSelectorOpLt && v < l
}

// UntoleratedTaint returns the first taint with one of the effects that a pod does not tolerate.
func UntoleratedTaint(tolerations []corev1.Toleration, taints []corev1.Taint, effects ...corev1.TaintEffect) (corev1.Taint, bool) {
	for _, taint := range taints {
		tolerates := func(t corev1.Toleration) bool { return t.ToleratesTaint(klog.Logger{}, &taint, true) }
		if slices.Contains(effects, taint.Effect) && !slices.ContainsFunc(tolerations, tolerates) {
			return taint, true
		}
	}
	return corev1.Taint{}, false
}
