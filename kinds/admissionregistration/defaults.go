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
		kind.SetDefaultPointer(&w.FailurePolicy, failurePolicy)
		kind.SetDefaultPointer(&w.MatchPolicy, matchPolicy)
		kind.SetDefaultPointer(&w.TimeoutSeconds, timeout)
		kind.SetDefaultPointer(&w.ReinvocationPolicy, admissionregistrationv1.NeverReinvocationPolicy)
		defaultSelectors(&w.NamespaceSelector, &w.ObjectSelector)
		defaultService(w.ClientConfig.Service)
		defaultRules(w.Rules)
	}
}

func defaultValidatingWebhooks(config *admissionregistrationv1.ValidatingWebhookConfiguration) {
	for i := range config.Webhooks {
		w := &config.Webhooks[i]
		kind.SetDefaultPointer(&w.FailurePolicy, failurePolicy)
		kind.SetDefaultPointer(&w.MatchPolicy, matchPolicy)
		kind.SetDefaultPointer(&w.TimeoutSeconds, timeout)
		defaultSelectors(&w.NamespaceSelector, &w.ObjectSelector)
		defaultService(w.ClientConfig.Service)
		defaultRules(w.Rules)
	}
}

func defaultMutatingPolicy(policy *admissionregistrationv1.MutatingAdmissionPolicy) {
	kind.SetDefaultPointer(&policy.Spec.FailurePolicy, failurePolicy)
	defaultMatch(policy.Spec.MatchConstraints)
}

func defaultValidatingPolicy(policy *admissionregistrationv1.ValidatingAdmissionPolicy) {
	kind.SetDefaultPointer(&policy.Spec.FailurePolicy, failurePolicy)
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
	kind.SetDefaultPointer(&match.MatchPolicy, matchPolicy)
	defaultSelectors(&match.NamespaceSelector, &match.ObjectSelector)
	defaultNamedRules(match.ResourceRules)
	defaultNamedRules(match.ExcludeResourceRules)
}

// defaultSelectors select everything.
func defaultSelectors(namespaces, objects **metav1.LabelSelector) {
	kind.SetDefaultPointer(namespaces, metav1.LabelSelector{})
	kind.SetDefaultPointer(objects, metav1.LabelSelector{})
}

func defaultService(service *admissionregistrationv1.ServiceReference) {
	if service != nil {
		kind.SetDefaultPointer(&service.Port, 443)
	}
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
