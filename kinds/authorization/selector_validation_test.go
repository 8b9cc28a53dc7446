package authorization

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestSelectorsOfReviews(t *testing.T) {
	const at = "spec.resourceAttributes."
	type (
		attributes = authorizationv1.ResourceAttributes
		byField    = authorizationv1.FieldSelectorAttributes
		byLabel    = authorizationv1.LabelSelectorAttributes
		field      = metav1.FieldSelectorRequirement
		label      = metav1.LabelSelectorRequirement
	)
	for _, tc := range []struct {
		rule    string
		of      attributes
		errs    []string
		ignored string
	}{
		{"a raw selector", attributes{FieldSelector: &byField{RawSelector: "a=b"}}, nil, ""},
		{"a list of requirements", attributes{LabelSelector: &byLabel{Requirements: []label{{Key: "a", Operator: "Exists"}}}}, nil, ""},
		{"an empty selector", attributes{FieldSelector: &byField{}},
			[]string{at + "fieldSelector.requirements: Required value: when " + at + "fieldSelector is specified, requirements or rawSelector is required"}, ""},
		{"a raw selector with requirements", attributes{LabelSelector: &byLabel{RawSelector: "a", Requirements: []label{{Key: "a", Operator: "Exists"}}}},
			[]string{at + `labelSelector.rawSelector: Invalid value: "a": may not specified at the same time as requirements`}, ""},
		{"an invalid raw selector is ignored", attributes{LabelSelector: &byLabel{RawSelector: "a in ("}}, nil, at + "labelSelector ignored due to parse error"},
		{"unknown operators are ignored", attributes{FieldSelector: &byField{Requirements: []field{
			{Key: "a", Operator: "In", Values: []string{"b"}}, {Key: "a", Operator: "Near", Values: []string{"b"}},
		}}}, nil, at + "fieldSelector partially ignored due to parse error"},
	} {
		if diff := cmp.Diff(tc.errs, registrytest.Texts(validateSelectors(&tc.of))); diff != "" {
			t.Errorf("%s: errors (-want +got):\n%s", tc.rule, diff)
		}
		if got := strings.Join(ignored(&tc.of), "; "); got != tc.ignored {
			t.Errorf("%s: %q, want %q", tc.rule, got, tc.ignored)
		}
	}
}
