package resource

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func resourceClaimTemplates() *registry.Resource {
	d := definition("resourceclaimtemplates", &resourcev1.ResourceClaimTemplate{}, &resourcev1.ResourceClaimTemplateList{})
	d.Namespaced = true
	d.Strategy.Create.Validate = kind.CheckCreate(validateTemplate)
	d.Strategy.Update.Validate = kind.CheckUpdate(validateTemplateUpdate)
	d.Default = kind.Defaults(defaultClaimTemplate)
	d.Columns = registry.Columns{Definitions: nameAndAge(), Row: kind.Row(resourceClaimTemplateRow)}
	return d.Build()
}

func resourceClaimTemplateRow(template *resourcev1.ResourceClaimTemplate) []any {
	return []any{template.Name, kind.Age(template.CreationTimestamp)}
}
