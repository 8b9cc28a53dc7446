package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

// The defaults of webhooks and policies: they match equivalent requests, and a failed call rejects
// the request.
const (
	failurePolicy = admissionregistrationv1.Fail
	matchPolicy   = admissionregistrationv1.Equivalent
	timeout       = 10 // seconds
)

func defaultMatch(match *admissionregistrationv1.MatchResources) {
	if match == nil {
		return
	}
	kind.SetDefaultPointer(&match.MatchPolicy, matchPolicy)
	defaultSelectors(&match.NamespaceSelector, &match.ObjectSelector)
	defaultNamedRules(match.ResourceRules)
	defaultNamedRules(match.ExcludeResourceRules)
}

// defaultSelectors sets selectors that select everything.
func defaultSelectors(namespaces, objects **metav1.LabelSelector) {
	kind.SetDefaultPointer(namespaces, metav1.LabelSelector{})
	kind.SetDefaultPointer(objects, metav1.LabelSelector{})
}

func defaultRules(rules []admissionregistrationv1.RuleWithOperations) {
	for i := range rules {
		kind.SetDefaultPointer(&rules[i].Scope, admissionregistrationv1.AllScopes)
	}
}

func defaultNamedRules(rules []admissionregistrationv1.NamedRuleWithOperations) {
	for i := range rules {
		kind.SetDefaultPointer(&rules[i].Scope, admissionregistrationv1.AllScopes)
	}
}
