package podspec

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// oldNodeLabels maps deprecated labels of nodes to their warnings.
var oldNodeLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  `deprecated since v1.9`,
	"scheduler.alpha.kubernetes.io/preferAvoidPods": `deprecated since v1.22; use Taints and Tolerations instead`,
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

func warningsForNodes(spec *corev1.PodSpec, at *field.Path) []string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		if text, old := oldNodeLabels[key]; old {
			list = append(list, warn(at.Child("nodeSelector").Key(key), text))
		}
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil {
		at := at.Child("affinity", "nodeAffinity")
		if r := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
			for i := range r.NodeSelectorTerms {
				list = append(list, warningsForNodeTerm(&r.NodeSelectorTerms[i], nil, at.Child(required, "nodeSelectorTerms").Index(i))...)
			}
		}
		for i := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			term := &a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference
			list = append(list, warningsForNodeTerm(term, utilvalidation.IsValidLabelValue, at.Child(preferred).Index(i).Child("preference"))...)
		}
	}
	for i := range spec.TopologySpreadConstraints {
		c, at := &spec.TopologySpreadConstraints[i], at.Child("topologySpreadConstraints").Index(i)
		if text, old := oldNodeLabels[c.TopologyKey]; old {
			list = append(list, warn(at.Child("topologyKey"), c.TopologyKey+" is "+text))
		}
		if c.LabelSelector == nil {
			list = append(list, warn(at.Child("labelSelector"), matchesNothing))
		}
	}
	return list
}

// warningsForNodeTerm also returns warnings about invalid label values in preferred terms.
func warningsForNodeTerm(t *corev1.NodeSelectorTerm, validValue func(string) []string, at *field.Path) []string {
	var list []string
	for i, r := range t.MatchExpressions {
		at := at.Child("matchExpressions").Index(i)
		if text, old := oldNodeLabels[r.Key]; old {
			list = append(list, warn(at.Child("key"), r.Key+" is "+text))
		}
		for j, value := range r.Values {
			if validValue == nil {
				break
			}
			for _, message := range validValue(value) {
				list = append(list, warn(at.Child("values").Index(j), fmt.Sprintf("%s is invalid, %s", value, message)))
			}
		}
	}
	return list
}

const matchesNothing = "a null labelSelector results in matching no pod"

func warningsForAffinity(a *corev1.Affinity, at *field.Path) []string {
	if a == nil {
		return nil
	}
	var list []string
	terms := func(hard []corev1.PodAffinityTerm, soft []corev1.WeightedPodAffinityTerm, at *field.Path) {
		for i := range hard {
			if hard[i].LabelSelector == nil {
				list = append(list, warn(at.Child(required).Index(i).Child("labelSelector"), matchesNothing))
			}
		}
		for i := range soft {
			if soft[i].PodAffinityTerm.LabelSelector == nil {
				list = append(list, warn(at.Child(preferred).Index(i).Child("podAffinityTerm", "labelSelector"), matchesNothing))
			}
		}
	}
	if p := a.PodAffinity; p != nil {
		terms(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution, at.Child("podAffinity"))
	}
	if p := a.PodAntiAffinity; p != nil {
		terms(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution, at.Child("podAntiAffinity"))
	}
	return list
}
