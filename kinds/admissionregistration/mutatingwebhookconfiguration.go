package admissionregistration

import (
	"reflect"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func mutatingWebhookConfigurations() *registry.Resource {
	d := definition("mutatingwebhookconfigurations",
		&admissionregistrationv1.MutatingWebhookConfiguration{},
		&admissionregistrationv1.MutatingWebhookConfigurationList{})
	d.Changed = mutatingWebhooksChanged
	d.Strategy.Create.Validate = kind.CheckCreate(validateMutatingWebhooks)
	d.Strategy.Update.Validate = kind.CheckUpdate(validateMutatingWebhooksUpdate)
	d.Default = kind.Defaults(defaultMutatingWebhooks)
	d.Columns = registry.Columns{Definitions: webhookColumns(), Row: kind.Row(mutatingWebhookRow)}
	return d.Build()
}

// mutatingWebhooksChanged tells no list from an empty one, as kube-apiserver does.
func mutatingWebhooksChanged(obj, old runtime.Object) bool {
	return !reflect.DeepEqual(
		obj.(*admissionregistrationv1.MutatingWebhookConfiguration).Webhooks,
		old.(*admissionregistrationv1.MutatingWebhookConfiguration).Webhooks)
}

func mutatingWebhookRow(config *admissionregistrationv1.MutatingWebhookConfiguration) []any {
	return []any{config.Name, int64(len(config.Webhooks)), kind.Age(config.CreationTimestamp)}
}
