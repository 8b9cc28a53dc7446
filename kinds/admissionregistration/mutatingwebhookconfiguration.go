package admissionregistration

import (
	"reflect"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

func mutatingWebhookConfigurations(features *feature.Set) *registry.Resource {
	d := definition("mutatingwebhookconfigurations",
		&admissionregistrationv1.MutatingWebhookConfiguration{},
		&admissionregistrationv1.MutatingWebhookConfigurationList{})
	d.Changed = mutatingWebhooksChanged
	d.Default = defaultMutatingWebhooks
	d.ValidateCreate = validateMutatingWebhooks
	d.ValidateUpdate = validateMutatingWebhooksUpdate
	d.Warnings = webhookWarnings(features, mutatingRules)
	d.Columns = webhookColumns(func(config *admissionregistrationv1.MutatingWebhookConfiguration) int { return len(config.Webhooks) })
	return withReservedNames(withExpressions(d, mutatingWebhookExpressions), features).Build(features)
}

// mutatingWebhooksChanged distinguishes a nil list from an empty one, as kube-apiserver does.
func mutatingWebhooksChanged(config, old *admissionregistrationv1.MutatingWebhookConfiguration) bool {
	return !reflect.DeepEqual(config.Webhooks, old.Webhooks)
}

func mutatingRules(config *admissionregistrationv1.MutatingWebhookConfiguration) [][]admissionregistrationv1.RuleWithOperations {
	rules := make([][]admissionregistrationv1.RuleWithOperations, len(config.Webhooks))
	for i, w := range config.Webhooks {
		rules[i] = w.Rules
	}
	return rules
}
