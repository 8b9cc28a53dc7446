package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/registry"
)

// maxKinds is the maximum number of kinds that a policy is checked against.
const maxKinds = 10

// complete type-checks the expressions of a policy that is new or whose generation has changed,
// and reports the errors in its status. The expressions are checked against the kinds that the
// policy matches. If none of these kinds is served, the policy is not checked until its next
// change, as in Kubernetes.
func (p *Policies) complete(ctx context.Context, catalog *registry.Catalog, obj, old runtime.Object) {
	policy := obj.(*admissionregistrationv1.ValidatingAdmissionPolicy)
	if old != nil && old.(*admissionregistrationv1.ValidatingAdmissionPolicy).Generation == policy.Generation {
		return
	}
	kinds, absent := kindsOf(catalog, policy.Spec.MatchConstraints)
	if absent && p.sync != nil {
		p.sync(ctx)
		kinds, absent = kindsOf(catalog, policy.Spec.MatchConstraints)
	}
	if absent && len(kinds) == 0 {
		policy.Status.TypeChecking = nil
		return
	}
	policy.Status.ObservedGeneration = policy.Generation
	policy.Status.TypeChecking = &admissionregistrationv1.TypeChecking{
		ExpressionWarnings: expressionWarnings(&policy.Spec, p.typeChecks(ctx, catalog, kinds, &policy.Spec)),
	}
}

// expressionWarnings returns a warning for each expression that fails a check.
func expressionWarnings(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec, checks []typeCheck) []admissionregistrationv1.ExpressionWarning {
	var warnings []admissionregistrationv1.ExpressionWarning
	check := func(at *field.Path, expression string) {
		var errs []string
		for _, c := range checks {
			if err := c.check(expression); err != "" {
				errs = append(errs, err)
			}
		}
		if len(errs) > 0 {
			warnings = append(warnings, admissionregistrationv1.ExpressionWarning{
				FieldRef: at.String(), Warning: strings.Join(errs, "\n"),
			})
		}
	}
	for i, v := range spec.Validations {
		at := field.NewPath("spec", "validations").Index(i)
		check(at.Child("expression"), v.Expression)
		if v.MessageExpression != "" {
			check(at.Child("messageExpression"), v.MessageExpression)
		}
	}
	return warnings
}

// kindsOf returns the kinds that a policy names without wildcards, sorted, and whether one of the
// resources is not served.
func kindsOf(catalog *registry.Catalog, constraints *admissionregistrationv1.MatchResources) (kinds []schema.GroupVersionKind, absent bool) {
	if constraints == nil {
		return nil, false
	}
	for _, rule := range constraints.ResourceRules {
		for _, resource := range resourcesOf(rule.Rule) {
			found := catalog.Snapshot().KindsOf(resource)
			kinds = append(kinds, found...)
			absent = absent || len(found) == 0
		}
	}
	kinds = kinds[:min(len(kinds), maxKinds)]
	slices.SortFunc(kinds, compareKinds)
	return slices.Compact(kinds), absent
}

// resourcesOf returns the resources that a rule names. It returns none if the groups or versions
// of the rule have a wildcard.
func resourcesOf(rule admissionregistrationv1.Rule) []schema.GroupVersionResource {
	wildcard := func(name string) bool { return strings.Contains(name, "*") }
	if slices.ContainsFunc(rule.APIGroups, wildcard) || slices.ContainsFunc(rule.APIVersions, wildcard) {
		return nil
	}
	var resources []schema.GroupVersionResource
	for _, group := range rule.APIGroups {
		for _, version := range rule.APIVersions {
			for _, resource := range rule.Resources {
				if !strings.ContainsAny(resource, "*/") {
					resources = append(resources, schema.GroupVersionResource{Group: group, Version: version, Resource: resource})
				}
			}
		}
	}
	return resources
}

func compareKinds(a, b schema.GroupVersionKind) int {
	return slices.Compare([]string{a.Group, a.Version, a.Kind}, []string{b.Group, b.Version, b.Kind})
}

// typeCheck checks expressions against the types of one kind.
type typeCheck struct {
	kind schema.GroupVersionKind
	env  *cel.Env
}

// check compiles an expression. It returns the text of the errors, "" if there are none.
func (c typeCheck) check(expression string) string {
	if _, issues := c.env.Compile(expression); issues.Err() != nil {
		return fmt.Sprintf("%v: %s\n", c.kind, issues)
	}
	return ""
}
