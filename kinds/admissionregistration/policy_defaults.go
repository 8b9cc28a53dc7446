package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultMutatingPolicy(policy *admissionregistrationv1.MutatingAdmissionPolicy) {
	kind.SetDefaultPointer(&policy.Spec.FailurePolicy, failurePolicy)
	defaultMatch(policy.Spec.MatchConstraints)
}

func defaultValidatingPolicy(policy *admissionregistrationv1.ValidatingAdmissionPolicy) {
	kind.SetDefaultPointer(&policy.Spec.FailurePolicy, failurePolicy)
	defaultMatch(policy.Spec.MatchConstraints)
}
