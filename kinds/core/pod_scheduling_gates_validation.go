package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// validateNarrowed allows a gated pod to narrow its node selector and node affinity, and copies
// both from old to spec.
func validateNarrowed(spec, old *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for key, value := range old.NodeSelector {
		if now, ok := spec.NodeSelector[key]; !ok || now != value {
			errs = append(errs, field.Invalid(at.Child("nodeSelector"), spec.NodeSelector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)"))
			break
		}
	}
	spec.NodeSelector = old.NodeSelector
	now, was := nodeAffinity(spec), nodeAffinity(old)
	if equality.Semantic.DeepEqual(now, was) {
		return errs
	}
	errs = append(errs, validateNarrowedTerms(nodeTerms(now), nodeTerms(was),
		at.Child("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"))...)
	switch a := spec.Affinity; {
	case a == nil:
		spec.Affinity = &corev1.Affinity{NodeAffinity: was}
	case old.Affinity == nil && a.PodAffinity == nil && a.PodAntiAffinity == nil:
		spec.Affinity = nil
	default:
		a.NodeAffinity = was
	}
	return errs
}

func nodeAffinity(spec *corev1.PodSpec) *corev1.NodeAffinity {
	if spec.Affinity == nil {
		return nil
	}
	return spec.Affinity.NodeAffinity
}

func nodeTerms(a *corev1.NodeAffinity) []corev1.NodeSelectorTerm {
	if a == nil || a.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// validateNarrowedTerms requires the old terms, each with at least its old requirements: terms are
// alternatives, requirements are cumulative.
func validateNarrowedTerms(now, was []corev1.NodeSelectorTerm, at *field.Path) field.ErrorList {
	if len(was) == 0 {
		return nil
	}
	if len(now) != len(was) {
		return field.ErrorList{field.Invalid(at, kind.GoJSON(now), "no additions/deletions to non-empty NodeSelectorTerms list are allowed")}
	}
	var errs field.ErrorList
	for i := range was {
		empty := len(was[i].MatchExpressions)+len(was[i].MatchFields) == 0
		if empty && len(now[i].MatchExpressions)+len(now[i].MatchFields) > 0 ||
			!startsWith(now[i].MatchExpressions, was[i].MatchExpressions) || !startsWith(now[i].MatchFields, was[i].MatchFields) {
			errs = append(errs, field.Invalid(at.Index(i), kind.GoJSON(now[i]), "only additions are allowed (no mutations or deletions)"))
		}
	}
	return errs
}

func startsWith(list, start []corev1.NodeSelectorRequirement) bool {
	return len(list) >= len(start) && equality.Semantic.DeepEqual(list[:len(start)], start)
}
