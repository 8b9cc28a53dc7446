package resource

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func resourceClaimTemplates(features *feature.Set) *registry.Resource {
	d := definition("resourceclaimtemplates", &resourcev1.ResourceClaimTemplate{}, &resourcev1.ResourceClaimTemplateList{})
	d.Namespaced = true
	d.GenerateNameOnUpdate = true
	d.ValidateCreate = validateTemplate
	d.ValidateUpdate = validateTemplateUpdate
	d.GatedFields = func() []kind.GatedField { return gatedClaimSpecFields("spec.spec.") }
	d.Default = defaultClaimTemplate
	d.Columns = kind.StandardColumns[*resourcev1.ResourceClaimTemplate]()
	return d.Build(features)
}
