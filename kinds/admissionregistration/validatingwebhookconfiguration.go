package admissionregistration

import (
	"reflect"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func validatingWebhookConfigurations() *registry.Resource {
	d := definition("validatingwebhookconfigurations",
		&admissionregistrationv1.ValidatingWebhookConfiguration{},
		&admissionregistrationv1.ValidatingWebhookConfigurationList{})
	d.Changed = validatingWebhooksChanged
	d.Strategy.Create.Validate = kind.CheckCreate(validateValidatingWebhooks)
	d.Strategy.Update.Validate = kind.CheckUpdate(validateValidatingWebhooksUpdate)
	d.Default = kind.Defaults(defaultValidatingWebhooks)
	d.Columns = registry.Columns{Definitions: webhookColumns(), Row: kind.Row(validatingWebhookRow)}
	return d.Build()
}

// validatingWebhooksChanged tells no list from an empty one, as kube-apiserver does.
func validatingWebhooksChanged(obj, old runtime.Object) bool {
	return !reflect.DeepEqual(
		obj.(*admissionregistrationv1.ValidatingWebhookConfiguration).Webhooks,
		old.(*admissionregistrationv1.ValidatingWebhookConfiguration).Webhooks)
}

func validatingWebhookRow(config *admissionregistrationv1.ValidatingWebhookConfiguration) []any {
	return []any{config.Name, int64(len(config.Webhooks)), kind.Age(config.CreationTimestamp)}
}
