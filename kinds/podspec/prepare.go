package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The fields of a new pod's spec that derive from its labels and annotations.

// SelectByOwnLabels merges the pod's values of matchLabelKeys and mismatchLabelKeys into the
// selectors beside them.
func SelectByOwnLabels(p *corev1.Pod) {
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		require(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn, p.Labels)
	}
	if p.Spec.Affinity == nil {
		return
	}
	term := func(t *corev1.PodAffinityTerm) {
		require(t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn, p.Labels)
		require(t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, p.Labels)
	}
	terms := func(preferred []corev1.WeightedPodAffinityTerm, required []corev1.PodAffinityTerm) {
		for i := range preferred {
			term(&preferred[i].PodAffinityTerm)
		}
		for i := range required {
			term(&required[i])
		}
	}
	if a := p.Spec.Affinity.PodAffinity; a != nil {
		terms(a.PreferredDuringSchedulingIgnoredDuringExecution, a.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if a := p.Spec.Affinity.PodAntiAffinity; a != nil {
		terms(a.PreferredDuringSchedulingIgnoredDuringExecution, a.RequiredDuringSchedulingIgnoredDuringExecution)
	}
}

// require adds a requirement to a selector, if there is one. Labels that the pod does not have are
// skipped.
func require(s *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator, labels map[string]string) {
	if s == nil {
		return
	}
	for _, key := range keys {
		if value, ok := labels[key]; ok {
			s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
		}
	}
}

// AdoptAppArmor sets the AppArmor fields from the annotations of older clients, and returns
// warnings.
func AdoptAppArmor(p *corev1.Pod) []string {
	if len(p.Annotations) == 0 || p.Spec.OS != nil && p.Spec.OS.Name == corev1.Windows {
		return nil
	}
	var warnings []string
	visitContainers(&p.Spec, nil, func(c *corev1.Container, _ *field.Path) {
		key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
		annotation, ok := p.Annotations[key]
		if !ok || c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
			return
		}
		found := annotatedAppArmor(annotation)
		if len(validateAppArmor(found, field.NewPath(""))) > 0 {
			found = nil
		}
		if found != nil && equality.Semantic.DeepEqual(found, podAppArmor(&p.Spec)) {
			return
		}
		if found != nil {
			if c.SecurityContext == nil {
				c.SecurityContext = &corev1.SecurityContext{}
			}
			c.SecurityContext.AppArmorProfile = found
		}
		warnings = append(warnings, warningsForAnnotation(p.Annotations, key, noAppArmor, nil)...)
	})
	return warnings
}

func podAppArmor(spec *corev1.PodSpec) *corev1.AppArmorProfile {
	if spec.SecurityContext == nil {
		return nil
	}
	return spec.SecurityContext.AppArmorProfile
}

// annotatedAppArmor returns nil for a value that names no profile.
func annotatedAppArmor(annotation string) *corev1.AppArmorProfile {
	file, local := strings.CutPrefix(annotation, corev1.DeprecatedAppArmorBetaProfileNamePrefix)
	switch {
	case annotation == corev1.DeprecatedAppArmorBetaProfileNameUnconfined:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	case annotation == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	case local && file != "":
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &file}
	}
	return nil
}
