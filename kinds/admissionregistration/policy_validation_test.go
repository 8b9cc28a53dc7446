package admissionregistration

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry/registrytest"
)

func newMatch() *admissionregistrationv1.MatchResources {
	return &admissionregistrationv1.MatchResources{
		MatchPolicy:       new(admissionregistrationv1.Equivalent),
		NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
		ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: newWebhooks().Webhooks[0].Rules[0]}},
	}
}

func newPolicy() *admissionregistrationv1.ValidatingAdmissionPolicy {
	return &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: new(admissionregistrationv1.Fail), MatchConstraints: newMatch(),
			Validations: []admissionregistrationv1.Validation{{Expression: "true"}},
		},
	}
}

func TestValidatingPolicies(t *testing.T) {
	type policy = admissionregistrationv1.ValidatingAdmissionPolicy
	check := registrytest.Rules(t, newPolicy, validateValidatingPolicy)
	const one = "Required value: validations or auditAnnotations must contain at least one item"
	check("an empty policy", func(p *policy) { p.Spec = admissionregistrationv1.ValidatingAdmissionPolicySpec{} },
		"spec.failurePolicy: Required value", "spec.matchConstraints: Required value", "spec.validations: "+one, "spec.auditAnnotations: "+one)
	check("resource rules are required", func(p *policy) { p.Spec.MatchConstraints.ResourceRules = nil },
		"spec.matchConstraints.resourceRules: Required value")
	check("resource names are unique", func(p *policy) { p.Spec.MatchConstraints.ResourceRules[0].ResourceNames = []string{"a", "a"} },
		`spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"`)
	check("paramKind has a kind", func(p *policy) { p.Spec.ParamKind = &admissionregistrationv1.ParamKind{} },
		"spec.paramKind.apiVersion: Required value", "spec.paramKind.kind: Required value")
	check("paramKind has an API version", func(p *policy) { p.Spec.ParamKind = &admissionregistrationv1.ParamKind{APIVersion: "a/b/c", Kind: "K"} },
		`spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`)
	check("expressions are required", func(p *policy) { p.Spec.Validations[0].Expression = " " },
		"spec.validations[0].expression: Required value: expression is not specified")
	check("messages have one line", func(p *policy) { p.Spec.Validations[0].Message = "a\nb" },
		`spec.validations[0].message: Invalid value: "a\nb": message must not contain line breaks`)
	check("reasons are known", func(p *policy) { p.Spec.Validations[0].Reason = new(metav1.StatusReason("x")) },
		`spec.validations[0].reason: Unsupported value: "x": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`)
	check("variables have valid names", func(p *policy) {
		p.Spec.Variables = []admissionregistrationv1.Variable{{Expression: "1"}, {Name: "if", Expression: "1"}}
	},
		"spec.variables[0].name: Required value: name is not specified",
		`spec.variables[1].name: Invalid value: "if": must be a valid CEL identifier`)
	check("audit annotations have keys", func(p *policy) {
		a := admissionregistrationv1.AuditAnnotation{Key: "a", ValueExpression: "'x'"}
		p.Spec.AuditAnnotations = []admissionregistrationv1.AuditAnnotation{a, a}
	}, `spec.auditAnnotations[1].key: Duplicate value: "a"`)
}

func TestMutatingPolicies(t *testing.T) {
	type policy = admissionregistrationv1.MutatingAdmissionPolicy
	valid := func() *policy {
		return &policy{Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			FailurePolicy: new(admissionregistrationv1.Fail), MatchConstraints: newMatch(), ReinvocationPolicy: "Never",
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: "JSONPatch", JSONPatch: &admissionregistrationv1.JSONPatch{Expression: "[]"},
			}},
		}}
	}
	const at = "spec.mutations[0]."
	check := registrytest.Rules(t, valid, validateMutatingPolicy)
	check("mutations are required", func(p *policy) { p.Spec.Mutations = nil },
		"spec.mutations: Required value: mutations must contain at least one item")
	check("patch types are known", func(p *policy) { p.Spec.Mutations[0].PatchType = "x" },
		at+`patchType: Unsupported value: "x": supported values: "ApplyConfiguration", "JSONPatch"`)
	check("the field of the patch type is required", func(p *policy) { p.Spec.Mutations[0].PatchType = "ApplyConfiguration" },
		at+"applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration",
		at+`jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration`)
	check("mutation of deletes is rejected", func(p *policy) { p.Spec.MatchConstraints.ResourceRules[0].Operations[0] = "DELETE" },
		`spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"`)
	check("reinvocationPolicy is required", func(p *policy) { p.Spec.ReinvocationPolicy = "" }, "spec.reinvocationPolicy: Required value")
}

func TestBindings(t *testing.T) {
	type binding = admissionregistrationv1.ValidatingAdmissionPolicyBinding
	valid := func() *binding {
		return &binding{Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "p", ValidationActions: []admissionregistrationv1.ValidationAction{"Deny", "Audit"},
			ParamRef: &admissionregistrationv1.ParamRef{Name: "a", ParameterNotFoundAction: new(admissionregistrationv1.DenyAction)},
		}}
	}
	const actions, params = "spec.validationActions", "spec.paramRef"
	check := registrytest.Rules(t, valid, validateValidatingBinding)
	check("an empty binding", func(b *binding) { b.Spec = admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{} },
		"spec.policyName: Required value", actions+": Required value")
	check("actions are known and unique", func(b *binding) { b.Spec.ValidationActions = []admissionregistrationv1.ValidationAction{"x", "x"} },
		actions+`[0]: Unsupported value: "x": supported values: "Audit", "Deny", "Warn"`,
		actions+`[1]: Unsupported value: "x": supported values: "Audit", "Deny", "Warn"`, actions+`[1]: Duplicate value: "x"`)
	check("Deny excludes Warn", func(b *binding) { b.Spec.ValidationActions[1] = "Warn" },
		actions+`: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn `+
			`(repeating the same validation failure information in the API response and headers serves no purpose)`)
	check("paramRef has a name or a selector", func(b *binding) { b.Spec.ParamRef.Name = "" },
		params+": Required value: one of name or selector must be specified")
	check("paramRef has only one of name and selector", func(b *binding) { b.Spec.ParamRef.Selector = &metav1.LabelSelector{} },
		params+".name: Forbidden: name and selector are mutually exclusive",
		params+".selector: Forbidden: name and selector are mutually exclusive")
	check("parameterNotFoundAction is required", func(b *binding) { b.Spec.ParamRef.ParameterNotFoundAction = nil },
		params+".parameterNotFoundAction: Required value")
}
