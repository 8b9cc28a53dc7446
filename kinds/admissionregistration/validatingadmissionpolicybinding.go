package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func validatingAdmissionPolicyBindings() *registry.Resource {
	d := definition("validatingadmissionpolicybindings",
		&admissionregistrationv1.ValidatingAdmissionPolicyBinding{},
		&admissionregistrationv1.ValidatingAdmissionPolicyBindingList{})
	d.Strategy.Create.Validate = kind.CheckCreate(validateValidatingBinding)
	d.Strategy.Update.Validate = kind.CheckAgain(validateValidatingBinding)
	d.Default = kind.Defaults(defaultValidatingBinding)
	d.Columns = registry.Columns{Definitions: bindingColumns(), Row: kind.Row(validatingAdmissionPolicyBindingRow)}
	return d.Build()
}

func validatingAdmissionPolicyBindingRow(binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) []any {
	return []any{
		binding.Name,
		binding.Spec.PolicyName,
		paramRefCell(binding.Spec.ParamRef),
		kind.Age(binding.CreationTimestamp),
	}
}
