package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func mutatingAdmissionPolicies(features *feature.Set) *registry.Resource {
	d := definition("mutatingadmissionpolicies",
		&admissionregistrationv1.MutatingAdmissionPolicy{},
		&admissionregistrationv1.MutatingAdmissionPolicyList{})
	d.Default = defaultMutatingPolicy
	d.Validate = validateMutatingPolicy
	d.Columns = kind.StandardColumns(
		kind.IntegerColumn("Mutations", "Mutation indicates the number of mutations rules defined in this configuration",
			func(policy *admissionregistrationv1.MutatingAdmissionPolicy) any {
				return int64(len(policy.Spec.Mutations))
			}),
		paramKindColumn(func(policy *admissionregistrationv1.MutatingAdmissionPolicy) *admissionregistrationv1.ParamKind {
			return policy.Spec.ParamKind
		}),
	)
	return withReservedNames(withExpressions(d, mutatingPolicyExpressions), features).Build(features)
}
