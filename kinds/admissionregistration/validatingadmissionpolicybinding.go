package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

func validatingAdmissionPolicyBindings(features *feature.Set) *registry.Resource {
	d := definition("validatingadmissionpolicybindings",
		&admissionregistrationv1.ValidatingAdmissionPolicyBinding{},
		&admissionregistrationv1.ValidatingAdmissionPolicyBindingList{})
	d.Default = defaultValidatingBinding
	d.Validate = validateValidatingBinding
	d.Columns = bindingColumns(func(binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) boundPolicy {
		return boundPolicy{binding.Spec.PolicyName, binding.Spec.ParamRef}
	})
	return withReservedNames(d, features).Build(features)
}
