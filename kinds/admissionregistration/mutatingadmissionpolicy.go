package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func mutatingAdmissionPolicies() *registry.Resource {
	d := definition("mutatingadmissionpolicies",
		&admissionregistrationv1.MutatingAdmissionPolicy{},
		&admissionregistrationv1.MutatingAdmissionPolicyList{})
	d.Strategy.Create.Validate = kind.CheckCreate(validateMutatingPolicy)
	d.Strategy.Update.Validate = kind.CheckAgain(validateMutatingPolicy)
	d.Default = kind.Defaults(defaultMutatingPolicy)
	d.Columns = registry.Columns{
		Definitions: []metav1.TableColumnDefinition{
			kind.NameColumn(),
			kind.Column("Mutations", "integer", "Mutation indicates the number of mutations rules defined in this configuration"),
			paramKindColumn(),
			kind.AgeColumn(),
		},
		Row: kind.Row(mutatingAdmissionPolicyRow),
	}
	return d.Build()
}

func mutatingAdmissionPolicyRow(policy *admissionregistrationv1.MutatingAdmissionPolicy) []any {
	return []any{
		policy.Name,
		int64(len(policy.Spec.Mutations)),
		paramKindCell(policy.Spec.ParamKind),
		kind.Age(policy.CreationTimestamp),
	}
}
