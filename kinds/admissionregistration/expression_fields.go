package admissionregistration

import (
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
)

func mutatingWebhookExpressions(c *admissionregistrationv1.MutatingWebhookConfiguration) []expression {
	var all []expression
	for i, w := range c.Webhooks {
		all = append(all, conditionExpressions(w.MatchConditions, field.NewPath("webhooks").Index(i), false)...)
	}
	return all
}

func validatingWebhookExpressions(c *admissionregistrationv1.ValidatingWebhookConfiguration) []expression {
	var all []expression
	for i, w := range c.Webhooks {
		all = append(all, conditionExpressions(w.MatchConditions, field.NewPath("webhooks").Index(i), false)...)
	}
	return all
}

func conditionExpressions(conditions []admissionregistrationv1.MatchCondition, parent *field.Path, params bool) []expression {
	all := make([]expression, len(conditions))
	for i, c := range conditions {
		all[i] = expression{
			at: parent.Child("matchConditions").Index(i).Child("expression"), text: strings.TrimSpace(c.Expression), types: truth,
			declared: plugincel.OptionalVariableDeclarations{HasParams: params, HasAuthorizer: true},
		}
	}
	return all
}

func variableExpressions(variables []admissionregistrationv1.Variable, parent *field.Path, params bool) []expression {
	all := make([]expression, len(variables))
	for i, v := range variables {
		all[i] = expression{
			at: parent.Child("variables").Index(i).Child("expression"), text: v.Expression, types: anything, variable: v.Name,
			declared: plugincel.OptionalVariableDeclarations{HasParams: params, HasAuthorizer: true},
		}
	}
	return all
}

func validatingPolicyExpressions(p *admissionregistrationv1.ValidatingAdmissionPolicy) []expression {
	spec, params := field.NewPath("spec"), p.Spec.ParamKind != nil
	all := conditionExpressions(p.Spec.MatchConditions, spec, params)
	all = append(all, variableExpressions(p.Spec.Variables, spec, params)...)
	unprivileged := plugincel.OptionalVariableDeclarations{HasParams: params}
	privileged := plugincel.OptionalVariableDeclarations{HasParams: params, HasAuthorizer: true}
	for i, v := range p.Spec.Validations {
		at := spec.Child("validations").Index(i)
		all = append(all,
			expression{at: at.Child("expression"), text: v.Expression, types: truth, declared: privileged, composed: true},
			expression{at: at.Child("messageExpression"), text: v.MessageExpression, types: text, declared: unprivileged, composed: true})
	}
	for i, a := range p.Spec.AuditAnnotations {
		at := spec.Child("auditAnnotations").Index(i).Child("valueExpression")
		all = append(all, expression{at: at, text: a.ValueExpression, types: textOrNull, declared: privileged, composed: true})
	}
	return all
}

func mutatingPolicyExpressions(p *admissionregistrationv1.MutatingAdmissionPolicy) []expression {
	spec, params := field.NewPath("spec"), p.Spec.ParamKind != nil
	all := conditionExpressions(p.Spec.MatchConditions, spec, params)
	all = append(all, variableExpressions(p.Spec.Variables, spec, params)...)
	declared := plugincel.OptionalVariableDeclarations{HasParams: params, HasAuthorizer: true, HasPatchTypes: true}
	for i, m := range p.Spec.Mutations {
		at := spec.Child("mutations").Index(i)
		switch {
		case m.JSONPatch != nil && m.PatchType == admissionregistrationv1.PatchTypeJSONPatch:
			at = at.Child("jsonPatch", "expression")
			all = append(all, expression{at: at, text: m.JSONPatch.Expression, types: patchType, declared: declared, composed: true})
		case m.ApplyConfiguration != nil && m.PatchType == admissionregistrationv1.PatchTypeApplyConfiguration:
			at = at.Child("applyConfiguration", "expression")
			all = append(all, expression{at: at, text: m.ApplyConfiguration.Expression, types: configuration, declared: declared, composed: true})
		}
	}
	return all
}
