package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/miniapi/miniapi/kinds/kind"
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

func defaultService(service *admissionregistrationv1.ServiceReference) {
	if service != nil {
		kind.SetDefaultPointer(&service.Port, 443)
	}
}
