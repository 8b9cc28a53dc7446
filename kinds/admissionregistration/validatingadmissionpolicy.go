package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
	d.ValidateStatusUpdate = func(p, _ *admissionregistrationv1.ValidatingAdmissionPolicy) field.ErrorList {
		return validatePolicyStatus(p, features)
	}
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
