package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

func validateAffinity(a *corev1.Affinity, at *field.Path) field.ErrorList {
	if a == nil {
		return nil
	}
	var errs field.ErrorList
	if n := a.NodeAffinity; n != nil {
		errs = append(errs, validateNodeAffinity(n, at.Child("nodeAffinity"))...)
	}
	if p := a.PodAffinity; p != nil {
		at := at.Child("podAffinity")
		errs = append(errs, validateTerms(p.RequiredDuringSchedulingIgnoredDuringExecution, at.Child(required))...)
		errs = append(errs, validateWeightedTerms(p.PreferredDuringSchedulingIgnoredDuringExecution, at.Child(preferred))...)
	}
	if p := a.PodAntiAffinity; p != nil {
		at := at.Child("podAntiAffinity")
		errs = append(errs, validateTerms(p.RequiredDuringSchedulingIgnoredDuringExecution, at.Child(required))...)
		errs = append(errs, validateWeightedTerms(p.PreferredDuringSchedulingIgnoredDuringExecution, at.Child(preferred))...)
	}
	return errs
}

// validateNodeAffinity accepts invalid label values in preferred terms.
func validateNodeAffinity(n *corev1.NodeAffinity, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if n.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		errs = ValidateNodeSelector(n.RequiredDuringSchedulingIgnoredDuringExecution, at.Child(required))
	}
	for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
		term, at := &n.PreferredDuringSchedulingIgnoredDuringExecution[i], at.Child(preferred).Index(i)
		errs = append(errs, validateWeight(term.Weight, at)...)
		errs = append(errs, validateNodeTerm(&term.Preference, nil, at.Child("preference"))...)
	}
	return errs
}

func validateWeight(weight int32, at *field.Path) field.ErrorList {
	if weight > 0 && weight <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("weight"), weight, "must be in the range 1-100")}
}

// ValidateNodeSelector validates the required terms of a node selector.
func ValidateNodeSelector(s *corev1.NodeSelector, at *field.Path) field.ErrorList {
	terms := at.Child("nodeSelectorTerms")
	if len(s.NodeSelectorTerms) == 0 {
		return field.ErrorList{field.Required(terms, "must have at least one node selector term")}
	}
	var errs field.ErrorList
	for i := range s.NodeSelectorTerms {
		errs = append(errs, validateNodeTerm(&s.NodeSelectorTerms[i], utilvalidation.IsValidLabelValue, terms.Index(i))...)
	}
	return errs
}

func validateNodeTerm(t *corev1.NodeSelectorTerm, validValue func(string) []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range t.MatchExpressions {
		r, at := &t.MatchExpressions[i], at.Child("matchExpressions").Index(i)
		errs = append(errs, validateNodeRequirement(r, at)...)
		for j, value := range r.Values {
			if validValue != nil {
				errs = append(errs, kind.Invalid(at.Child("values").Index(j), value, validValue(value))...)
			}
		}
	}
	for i := range t.MatchFields {
		errs = append(errs, validateNodeField(&t.MatchFields[i], at.Child("matchFields").Index(i))...)
	}
	return errs
}

func validateNodeRequirement(r *corev1.NodeSelectorRequirement, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	values := at.Child("values")
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			errs = append(errs, field.Required(values, "must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			errs = append(errs, field.Forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			errs = append(errs, field.Required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
		}
	default:
		errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	return append(errs, metavalidation.ValidateLabelName(r.Key, at.Child("key"))...)
}

// validateNodeField requires metadata.name, the only supported field.
func validateNodeField(r *corev1.NodeSelectorRequirement, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case r.Operator != corev1.NodeSelectorOpIn && r.Operator != corev1.NodeSelectorOpNotIn:
		errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
	case len(r.Values) != 1:
		errs = append(errs, field.Required(at.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
	}
	if r.Key != metav1.ObjectNameField {
		return append(errs, field.Invalid(at.Child("key"), r.Key, "not a valid field selector key"))
	}
	for i, value := range r.Values {
		errs = append(errs, kind.Invalid(at.Child("values").Index(i), value, validation.NameIsDNSSubdomain(value, false))...)
	}
	return errs
}

func validateTerms(terms []corev1.PodAffinityTerm, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range terms {
		errs = append(errs, validateTerm(&terms[i], at.Index(i))...)
	}
	return errs
}

func validateWeightedTerms(terms []corev1.WeightedPodAffinityTerm, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range terms {
		errs = append(errs, validateWeight(terms[i].Weight, at.Index(i))...)
		errs = append(errs, validateTerm(&terms[i].PodAffinityTerm, at.Index(i).Child("podAffinityTerm"))...)
	}
	return errs
}

func validateTerm(t *corev1.PodAffinityTerm, at *field.Path) field.ErrorList {
	opts := metavalidation.LabelSelectorValidationOptions{}
	errs := metavalidation.ValidateLabelSelector(t.LabelSelector, opts, at.Child("labelSelector"))
	errs = append(errs, metavalidation.ValidateLabelSelector(t.NamespaceSelector, opts, at.Child("namespaceSelector"))...)
	for _, name := range t.Namespaces {
		errs = append(errs, kind.Invalid(at.Child("namespace"), name, validation.ValidateNamespaceName(name, false))...)
	}
	errs = append(errs, validateLabelKeys(t.MatchLabelKeys, t.MismatchLabelKeys, t.LabelSelector, at)...)
	if t.TopologyKey == "" {
		errs = append(errs, field.Required(at.Child("topologyKey"), "can not be empty"))
	}
	return append(errs, metavalidation.ValidateLabelName(t.TopologyKey, at.Child("topologyKey"))...)
}

// validateLabelKeys validates the keys whose values the pod itself has. Creation has merged
// matchLabelKeys into the selector: a duplicate requirement comes from the client.
func validateLabelKeys(match, mismatch []string, selector *metav1.LabelSelector, at *field.Path) field.ErrorList {
	errs := validateKeyNames(match, selector, at.Child("matchLabelKeys"))
	errs = append(errs, validateKeyNames(mismatch, selector, at.Child("mismatchLabelKeys"))...)
	if selector != nil {
		selected := sets.KeySet(selector.MatchLabels)
		for _, e := range selector.MatchExpressions {
			if i := lastIndex(match, e.Key); i >= 0 && selected.Has(e.Key) {
				errs = append(errs, field.Invalid(at.Index(i), e.Key, "exists in both matchLabelKeys and labelSelector"))
			}
			selected.Insert(e.Key)
		}
	}
	for i, key := range match {
		if slices.Contains(mismatch, key) {
			errs = append(errs, field.Invalid(at.Child("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys"))
		}
	}
	return errs
}

func lastIndex(list []string, s string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == s {
			return i
		}
	}
	return -1
}

func validateKeyNames(keys []string, selector *metav1.LabelSelector, at *field.Path) field.ErrorList {
	if len(keys) > 0 && selector == nil {
		return field.ErrorList{field.Forbidden(at, "must not be specified when labelSelector is not set")}
	}
	var errs field.ErrorList
	for i, key := range keys {
		errs = append(errs, metavalidation.ValidateLabelName(key, at.Index(i))...)
	}
	return errs
}
