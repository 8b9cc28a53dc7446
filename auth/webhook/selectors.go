package webhook

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// withRequirements returns attributes whose selectors are lists of requirements, as kube-apiserver
// sends them. Selectors that cannot be parsed are omitted: the review is then about all objects.
func withRequirements(attributes *authorizationv1.ResourceAttributes) *authorizationv1.ResourceAttributes {
	if attributes == nil || attributes.FieldSelector == nil && attributes.LabelSelector == nil {
		return attributes
	}
	out := attributes.DeepCopy()
	if s := out.FieldSelector; s != nil && s.RawSelector != "" {
		out.FieldSelector = nil
		if requirements := fieldRequirements(s.RawSelector); len(requirements) > 0 {
			out.FieldSelector = &authorizationv1.FieldSelectorAttributes{Requirements: requirements}
		}
	}
	if s := out.LabelSelector; s != nil && s.RawSelector != "" {
		out.LabelSelector = nil
		if requirements := labelRequirements(s.RawSelector); len(requirements) > 0 {
			out.LabelSelector = &authorizationv1.LabelSelectorAttributes{Requirements: requirements}
		}
	}
	return out
}

func fieldRequirements(raw string) []metav1.FieldSelectorRequirement {
	selector, err := fields.ParseSelector(raw)
	if err != nil {
		return nil
	}
	var out []metav1.FieldSelectorRequirement
	for _, requirement := range selector.Requirements() {
		operator := metav1.FieldSelectorOpIn
		if requirement.Operator == selection.NotEquals {
			operator = metav1.FieldSelectorOpNotIn
		}
		out = append(out, metav1.FieldSelectorRequirement{Key: requirement.Field, Operator: operator, Values: []string{requirement.Value}})
	}
	return out
}

// labelOperators are the operators that a review can express.
var labelOperators = map[selection.Operator]metav1.LabelSelectorOperator{
	selection.Equals: metav1.LabelSelectorOpIn, selection.DoubleEquals: metav1.LabelSelectorOpIn, selection.In: metav1.LabelSelectorOpIn,
	selection.NotEquals: metav1.LabelSelectorOpNotIn, selection.NotIn: metav1.LabelSelectorOpNotIn,
	selection.Exists: metav1.LabelSelectorOpExists, selection.DoesNotExist: metav1.LabelSelectorOpDoesNotExist,
}

func labelRequirements(raw string) []metav1.LabelSelectorRequirement {
	requirements, err := labels.ParseToRequirements(raw)
	if err != nil {
		return nil
	}
	var out []metav1.LabelSelectorRequirement
	for _, requirement := range requirements {
		if operator, ok := labelOperators[requirement.Operator()]; ok {
			out = append(out, metav1.LabelSelectorRequirement{Key: requirement.Key(), Operator: operator, Values: requirement.ValuesUnsorted()})
		}
	}
	return out
}
