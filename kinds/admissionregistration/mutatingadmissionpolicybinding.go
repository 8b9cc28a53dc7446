package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

func mutatingAdmissionPolicyBindings(features *feature.Set) *registry.Resource {
	d := definition("mutatingadmissionpolicybindings",
		&admissionregistrationv1.MutatingAdmissionPolicyBinding{},
		&admissionregistrationv1.MutatingAdmissionPolicyBindingList{})
	d.Default = defaultMutatingBinding
	d.Validate = validateMutatingBinding
	d.Columns = bindingColumns(func(binding *admissionregistrationv1.MutatingAdmissionPolicyBinding) boundPolicy {
		return boundPolicy{binding.Spec.PolicyName, binding.Spec.ParamRef}
	})
	return withReservedNames(d, features).Build(features)
}
