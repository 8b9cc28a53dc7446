package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func validatingAdmissionPolicies(features *feature.Set) *registry.Resource {
	d := definition("validatingadmissionpolicies",
		&admissionregistrationv1.ValidatingAdmissionPolicy{},
		&admissionregistrationv1.ValidatingAdmissionPolicyList{})
	d.Default = defaultValidatingPolicy
	d.Validate = validateValidatingPolicy
	d.Status = true
	d.StatusKeepsMetadata = true
	d.ValidateStatusUpdate = validatePolicyStatus
	d.Columns = kind.StandardColumns(
		kind.IntegerColumn("Validations", "Validations indicates the number of validation rules defined in this configuration",
			func(policy *admissionregistrationv1.ValidatingAdmissionPolicy) any {
				return int64(len(policy.Spec.Validations))
			}),
		paramKindColumn(func(policy *admissionregistrationv1.ValidatingAdmissionPolicy) *admissionregistrationv1.ParamKind {
			return policy.Spec.ParamKind
		}),
	)
	return withReservedNames(withExpressions(d, validatingPolicyExpressions), features).Build(features)
}
