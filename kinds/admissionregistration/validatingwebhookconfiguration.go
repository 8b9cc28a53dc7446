package admissionregistration

import (
	"reflect"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

func validatingWebhookConfigurations(features *feature.Set) *registry.Resource {
	d := definition("validatingwebhookconfigurations",
		&admissionregistrationv1.ValidatingWebhookConfiguration{},
		&admissionregistrationv1.ValidatingWebhookConfigurationList{})
	d.Changed = validatingWebhooksChanged
	d.Default = defaultValidatingWebhooks
	d.ValidateCreate = validateValidatingWebhooks
	d.ValidateUpdate = validateValidatingWebhooksUpdate
	d.Warnings = webhookWarnings(features, validatingRules)
	d.Columns = webhookColumns(func(config *admissionregistrationv1.ValidatingWebhookConfiguration) int { return len(config.Webhooks) })
	return withReservedNames(withExpressions(d, validatingWebhookExpressions), features).Build(features)
}

// validatingWebhooksChanged distinguishes a nil list from an empty one, as kube-apiserver does.
func validatingWebhooksChanged(config, old *admissionregistrationv1.ValidatingWebhookConfiguration) bool {
	return !reflect.DeepEqual(config.Webhooks, old.Webhooks)
}

func validatingRules(config *admissionregistrationv1.ValidatingWebhookConfiguration) [][]admissionregistrationv1.RuleWithOperations {
	rules := make([][]admissionregistrationv1.RuleWithOperations, len(config.Webhooks))
	for i, w := range config.Webhooks {
		rules[i] = w.Rules
	}
	return rules
}
