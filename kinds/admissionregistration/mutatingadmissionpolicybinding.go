package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func mutatingAdmissionPolicyBindings() *registry.Resource {
	d := definition("mutatingadmissionpolicybindings",
		&admissionregistrationv1.MutatingAdmissionPolicyBinding{},
		&admissionregistrationv1.MutatingAdmissionPolicyBindingList{})
	d.Strategy.Create.Validate = kind.CheckCreate(validateMutatingBinding)
	d.Strategy.Update.Validate = kind.CheckAgain(validateMutatingBinding)
	d.Default = kind.Defaults(defaultMutatingBinding)
	d.Columns = registry.Columns{Definitions: bindingColumns(), Row: kind.Row(mutatingAdmissionPolicyBindingRow)}
	return d.Build()
}

func mutatingAdmissionPolicyBindingRow(binding *admissionregistrationv1.MutatingAdmissionPolicyBinding) []any {
	return []any{
		binding.Name,
		binding.Spec.PolicyName,
		paramRefCell(binding.Spec.ParamRef),
		kind.Age(binding.CreationTimestamp),
	}
}
