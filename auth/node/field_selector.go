package node

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/selection"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// selectsNode reports whether the field selector of a request selects only objects of the node.
func (r request) selectsNode() bool {
	if r.FieldSelector == nil {
		return false
	}
	for _, requirement := range requirements(r.FieldSelector) {
		if requirement.Field == "spec.nodeName" && requirement.Operator == selection.Equals && requirement.Value == r.node {
			return true
		}
	}
	return false
}

// requirements returns none for a malformed selector.
func requirements(s *authorizationv1.FieldSelectorAttributes) fields.Requirements {
	if s.RawSelector != "" {
		selector, err := fields.ParseSelector(s.RawSelector)
		if err != nil {
			return nil
		}
		return selector.Requirements()
	}
	var list fields.Requirements
	for _, requirement := range s.Requirements {
		if requirement.Operator == metav1.FieldSelectorOpIn && len(requirement.Values) == 1 {
			list = append(list, fields.Requirement{Field: requirement.Key, Operator: selection.Equals, Value: requirement.Values[0]})
		}
	}
	return list
}
