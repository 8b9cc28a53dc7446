package admissionregistration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
)

// errorsIn returns the errors of expressions with their fields, and the first line of the
// compiler's message.
func errorsIn(errs field.ErrorList) []string {
	var list []string
	for _, e := range errs {
		first, _, _ := strings.Cut(e.Detail, "\n")
		list = append(list, string(e.Type)+" "+e.Field+": "+first)
	}
	return list
}

func TestExpressionsOfValidatingPolicies(t *testing.T) {
	for _, c := range []struct {
		rule string
		spec admissionregistrationv1.ValidatingAdmissionPolicySpec
		want []string
	}{
		{"valid expressions", admissionregistrationv1.ValidatingAdmissionPolicySpec{
			ParamKind:       &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"},
			MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "m", Expression: `params != null && authorizer.path("/x").check("get").allowed()`}},
			Variables: []admissionregistrationv1.Variable{
				{Name: "a", Expression: "object.a"}, {Name: "b", Expression: "variables.a == 1"},
			},
			Validations:      []admissionregistrationv1.Validation{{Expression: "variables.b", MessageExpression: `"a is " + string(variables.a)`}},
			AuditAnnotations: []admissionregistrationv1.AuditAnnotation{{Key: "k", ValueExpression: `variables.b ? "x" : "y"`}},
		}, nil},
		{"errors have the path of the expression", admissionregistrationv1.ValidatingAdmissionPolicySpec{
			Validations: []admissionregistrationv1.Validation{{Expression: "object.a == "}},
		}, []string{"FieldValueInvalid spec.validations[0].expression: compilation failed: ERROR: <input>:1:13: Syntax error: mismatched input '<EOF>' expecting " +
			"{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"}},
		{"expressions have the required type", admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConditions:  []admissionregistrationv1.MatchCondition{{Name: "m", Expression: `"x"`}},
			Validations:      []admissionregistrationv1.Validation{{Expression: "1", MessageExpression: "true"}},
			AuditAnnotations: []admissionregistrationv1.AuditAnnotation{{Key: "k", ValueExpression: "1"}},
		}, []string{
			"FieldValueInvalid spec.matchConditions[0].expression: must evaluate to bool but got string",
			"FieldValueInvalid spec.validations[0].expression: must evaluate to bool but got int",
			"FieldValueInvalid spec.validations[0].messageExpression: must evaluate to string but got bool",
			"FieldValueInvalid spec.auditAnnotations[0].valueExpression: must evaluate to one of [string null_type] but got int",
		}},
		{"params without paramKind, and authorizer in messages, are undeclared", admissionregistrationv1.ValidatingAdmissionPolicySpec{
			Validations: []admissionregistrationv1.Validation{{Expression: "params.a", MessageExpression: `string(authorizer.path("/x").check("get").allowed())`}},
		}, []string{
			"FieldValueInvalid spec.validations[0].expression: compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')",
			"FieldValueInvalid spec.validations[0].messageExpression: compilation failed: ERROR: <input>:1:8: undeclared reference to 'authorizer' (in container '')",
		}},
		{"a variable can use earlier variables only", admissionregistrationv1.ValidatingAdmissionPolicySpec{
			Variables: []admissionregistrationv1.Variable{{Name: "a", Expression: "variables.b"}, {Name: "b", Expression: "1"}},
		}, []string{"FieldValueInvalid spec.variables[0].expression: compilation failed: ERROR: <input>:1:10: undefined field 'b'"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			policies := validatingAdmissionPolicies(feature.Default())
			obj := &admissionregistrationv1.ValidatingAdmissionPolicy{Spec: c.spec}
			got := errorsIn(compileAll(validatingPolicyExpressions(obj), nil))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if errs := compileAll(validatingPolicyExpressions(obj), validatingPolicyExpressions(obj)); len(errs) > 0 {
				t.Errorf("an update that leaves them alone finds %v", errs)
			}
			if all := policies.Strategy.Create.Validate(t.Context(), obj); len(all) < len(c.want) {
				t.Errorf("the kind finds %v", all)
			}
		})
	}
}

func TestExpressionsOfMutatingPolicies(t *testing.T) {
	obj := &admissionregistrationv1.MutatingAdmissionPolicy{Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
		Mutations: []admissionregistrationv1.Mutation{
			{PatchType: "JSONPatch", JSONPatch: &admissionregistrationv1.JSONPatch{Expression: `[JSONPatch{op: "remove", path: "/a"}]`}},
			{PatchType: "JSONPatch", JSONPatch: &admissionregistrationv1.JSONPatch{Expression: `Object{}`}},
			{PatchType: "ApplyConfiguration", ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: `Object{spec: Object.spec{a: 1}}`}},
			{PatchType: "ApplyConfiguration", ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: `{"a": 1}`}},
		},
	}}
	want := []string{
		"FieldValueInvalid spec.mutations[1].jsonPatch.expression: must evaluate to list(JSONPatch) but got Object",
		"FieldValueInvalid spec.mutations[3].applyConfiguration.expression: must evaluate to Object but got map(string, int)",
	}
	if diff := cmp.Diff(want, errorsIn(compileAll(mutatingPolicyExpressions(obj), nil))); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestExpressionsOfWebhooks(t *testing.T) {
	conditions := []admissionregistrationv1.MatchCondition{{Name: "m", Expression: "params.a"}}
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{Webhooks: []admissionregistrationv1.MutatingWebhook{{}, {MatchConditions: conditions}}}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{Webhooks: []admissionregistrationv1.ValidatingWebhook{{}, {MatchConditions: conditions}}}
	want := []string{"FieldValueInvalid webhooks[1].matchConditions[0].expression: compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')"}
	for _, expressions := range [][]expression{mutatingWebhookExpressions(mutating), validatingWebhookExpressions(validating)} {
		if diff := cmp.Diff(want, errorsIn(compileAll(expressions, nil))); diff != "" {
			t.Errorf("errors (-want +got):\n%s", diff)
		}
	}
}
