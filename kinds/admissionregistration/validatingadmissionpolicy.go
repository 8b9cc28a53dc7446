package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func validatingAdmissionPolicies() *registry.Resource {
	d := definition("validatingadmissionpolicies",
		&admissionregistrationv1.ValidatingAdmissionPolicy{},
		&admissionregistrationv1.ValidatingAdmissionPolicyList{})
	d.Status = true
	d.StatusStrategy = kind.CheckedStatus(kind.CheckUpdate(validatePolicyStatus))
	d.Strategy.Create.Validate = kind.CheckCreate(validateValidatingPolicy)
	d.Strategy.Update.Validate = kind.CheckAgain(validateValidatingPolicy)
	d.Default = kind.Defaults(defaultValidatingPolicy)
	d.Columns = registry.Columns{
		Definitions: []metav1.TableColumnDefinition{
			kind.NameColumn(),
			kind.Column("Validations", "integer", "Validations indicates the number of validation rules defined in this configuration"),
			paramKindColumn(),
			kind.AgeColumn(),
		},
		Row: kind.Row(validatingAdmissionPolicyRow),
	}
	return d.Build()
}

func validatingAdmissionPolicyRow(policy *admissionregistrationv1.ValidatingAdmissionPolicy) []any {
	return []any{
		policy.Name,
		int64(len(policy.Spec.Validations)),
		paramKindCell(policy.Spec.ParamKind),
		kind.Age(policy.CreationTimestamp),
	}
}
