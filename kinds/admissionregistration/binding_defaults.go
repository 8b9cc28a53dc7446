package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

func defaultMutatingBinding(binding *admissionregistrationv1.MutatingAdmissionPolicyBinding) {
	defaultMatch(binding.Spec.MatchResources)
}

func defaultValidatingBinding(binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) {
	defaultMatch(binding.Spec.MatchResources)
}
