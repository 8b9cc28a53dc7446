package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

// What webhooks and policies leave out they take strictly: whatever matches is
// theirs, and no answer is a refusal.
const (
	failurePolicy = admissionregistrationv1.Fail
	matchPolicy   = admissionregistrationv1.Equivalent
	timeout       = 10 // seconds
)

func defaultMutatingWebhooks(config *admissionregistrationv1.MutatingWebhookConfiguration) {
	for i := range config.Webhooks {
		w := &config.Webhooks[i]
		kind.FillNil(&w.FailurePolicy, failurePolicy)
		kind.FillNil(&w.MatchPolicy, matchPolicy)
		kind.FillNil(&w.TimeoutSeconds, timeout)
		kind.FillNil(&w.ReinvocationPolicy, admissionregistrationv1.NeverReinvocationPolicy)
		defaultSelectors(&w.NamespaceSelector, &w.ObjectSelector)
		defaultService(w.ClientConfig.Service)
		defaultRules(w.Rules)
	}
}

func defaultValidatingWebhooks(config *admissionregistrationv1.ValidatingWebhookConfiguration) {
	for i := range config.Webhooks {
		w := &config.Webhooks[i]
		kind.FillNil(&w.FailurePolicy, failurePolicy)
		kind.FillNil(&w.MatchPolicy, matchPolicy)
		kind.FillNil(&w.TimeoutSeconds, timeout)
		defaultSelectors(&w.NamespaceSelector, &w.ObjectSelector)
		defaultService(w.ClientConfig.Service)
		defaultRules(w.Rules)
	}
}

func defaultMutatingPolicy(policy *admissionregistrationv1.MutatingAdmissionPolicy) {
	kind.FillNil(&policy.Spec.FailurePolicy, failurePolicy)
	defaultMatch(policy.Spec.MatchConstraints)
}

func defaultValidatingPolicy(policy *admissionregistrationv1.ValidatingAdmissionPolicy) {
	kind.FillNil(&policy.Spec.FailurePolicy, failurePolicy)
	defaultMatch(policy.Spec.MatchConstraints)
}

func defaultMutatingBinding(binding *admissionregistrationv1.MutatingAdmissionPolicyBinding) {
	defaultMatch(binding.Spec.MatchResources)
}

func defaultValidatingBinding(binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) {
	defaultMatch(binding.Spec.MatchResources)
}

func defaultMatch(match *admissionregistrationv1.MatchResources) {
	if match == nil {
		return
	}
	kind.FillNil(&match.MatchPolicy, matchPolicy)
	defaultSelectors(&match.NamespaceSelector, &match.ObjectSelector)
	defaultNamedRules(match.ResourceRules)
	defaultNamedRules(match.ExcludeResourceRules)
}

// defaultSelectors select everything.
func defaultSelectors(namespaces, objects **metav1.LabelSelector) {
	kind.FillNil(namespaces, metav1.LabelSelector{})
	kind.FillNil(objects, metav1.LabelSelector{})
}

func defaultService(service *admissionregistrationv1.ServiceReference) {
	if service != nil {
		kind.FillNil(&service.Port, 443)
	}
}

func defaultRules(rules []admissionregistrationv1.RuleWithOperations) {
	for i := range rules {
		kind.FillNil(&rules[i].Scope, admissionregistrationv1.AllScopes)
	}
}

func defaultNamedRules(rules []admissionregistrationv1.NamedRuleWithOperations) {
	for i := range rules {
		kind.FillNil(&rules[i].Scope, admissionregistrationv1.AllScopes)
	}
}
