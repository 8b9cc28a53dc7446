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

// maxKinds is how many kinds expressions are checked against at most.
const maxKinds = 10

// complete says in the status of a policy that is new or has changed where its
// expressions do not fit the types of what it is about. A policy about kinds of
// which none is there is not checked; one that comes later is not asked until the
// policy changes again, as in Kubernetes.
func (p *Policies) complete(ctx context.Context, store *registry.Store, obj, old runtime.Object) {
	policy := obj.(*admissionregistrationv1.ValidatingAdmissionPolicy)
	if old != nil && old.(*admissionregistrationv1.ValidatingAdmissionPolicy).Generation == policy.Generation {
		return
	}
	kinds, absent := kindsOf(store, policy.Spec.MatchConstraints)
	if absent && p.settle != nil {
		p.settle(ctx)
		kinds, absent = kindsOf(store, policy.Spec.MatchConstraints)
	}
	if absent && len(kinds) == 0 {
		policy.Status.TypeChecking = nil
		return
	}
	policy.Status.ObservedGeneration = policy.Generation
	policy.Status.TypeChecking = &admissionregistrationv1.TypeChecking{
		ExpressionWarnings: warningsOf(&policy.Spec, p.checksFor(ctx, store, kinds, &policy.Spec)),
	}
}

// warningsOf returns one for each expression that does not pass all checks.
func warningsOf(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec, checks []typeCheck) []admissionregistrationv1.ExpressionWarning {
	var warnings []admissionregistrationv1.ExpressionWarning
	check := func(at *field.Path, expression string) {
		var faults []string
		for _, c := range checks {
			if fault := c.fault(expression); fault != "" {
				faults = append(faults, fault)
			}
		}
		if len(faults) > 0 {
			warnings = append(warnings, admissionregistrationv1.ExpressionWarning{
				FieldRef: at.String(), Warning: strings.Join(faults, "\n"),
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

// kindsOf returns the kinds that a policy names without wildcards, in their
// order, and whether one of them is not there.
func kindsOf(store *registry.Store, constraints *admissionregistrationv1.MatchResources) (kinds []schema.GroupVersionKind, absent bool) {
	if constraints == nil {
		return nil, false
	}
	for _, rule := range constraints.ResourceRules {
		for _, resource := range resourcesOf(rule.Rule) {
			found := store.KindsOf(resource)
			kinds = append(kinds, found...)
			absent = absent || len(found) == 0
		}
	}
	kinds = kinds[:min(len(kinds), maxKinds)]
	slices.SortFunc(kinds, compareKinds)
	return slices.Compact(kinds), absent
}

// resourcesOf a rule: none where any group or version is meant.
func resourcesOf(rule admissionregistrationv1.Rule) []schema.GroupVersionResource {
	wild := func(name string) bool { return strings.Contains(name, "*") }
	if slices.ContainsFunc(rule.APIGroups, wild) || slices.ContainsFunc(rule.APIVersions, wild) {
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

// typeCheck compiles expressions for one kind.
type typeCheck struct {
	kind schema.GroupVersionKind
	env  *cel.Env
}

// fault is why an expression does not fit the kind, "" if it does.
func (c typeCheck) fault(expression string) string {
	if _, issues := c.env.Compile(expression); issues.Err() != nil {
		return fmt.Sprintf("%v: %s\n", c.kind, issues)
	}
	return ""
}
