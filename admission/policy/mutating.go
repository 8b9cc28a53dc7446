package policy

import (
	"context"
	"encoding/json"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/miniapi/miniapi/admission/expression"
	"github.com/miniapi/miniapi/admission/match"
)

// mutating is a compiled MutatingAdmissionPolicy.
type mutating struct {
	fault      error // nothing could be compiled
	conditions *expression.Conditions
	compiler   *compiler
	mutations  []patch.Patcher
	// again is set for those that are applied again if others have changed
	// something since.
	again bool
}

func newMutating(obj runtime.Object) policy[*mutating] {
	p := obj.(*admissionregistrationv1.MutatingAdmissionPolicy)
	return policy[*mutating]{
		name:     p.Name,
		criteria: match.ForResources(p.Spec.MatchConstraints),
		params:   p.Spec.ParamKind,
		failOpen: failsOpen(p.Spec.FailurePolicy),
		program:  once(func() *mutating { return compileMutating(&p.Spec) }),
	}
}

func compileMutating(spec *admissionregistrationv1.MutatingAdmissionPolicySpec) *mutating {
	m := &mutating{again: spec.ReinvocationPolicy == admissionregistrationv1.IfNeededReinvocationPolicy}
	if m.compiler, m.fault = newCompiler(spec.Variables, spec.ParamKind != nil); m.fault != nil {
		return m
	}
	m.conditions = m.compiler.conditions(spec.MatchConditions, failsOpen(spec.FailurePolicy))
	for i := range spec.Mutations {
		if patcher := m.compiler.mutation(&spec.Mutations[i]); patcher != nil {
			m.mutations = append(m.mutations, patcher)
		}
	}
	return m
}

// mutation returns what carries out a mutation, nil for one that does nothing.
func (c *compiler) mutation(m *admissionregistrationv1.Mutation) patch.Patcher {
	declared := c.declared
	declared.HasPatchTypes = true
	compile := func(accessor plugincel.ExpressionAccessor) plugincel.MutatingEvaluator {
		return c.CompileMutatingEvaluator(accessor, declared, environment.StoredExpressions)
	}
	switch {
	case m.PatchType == admissionregistrationv1.PatchTypeJSONPatch && m.JSONPatch != nil:
		return patch.NewJSONPatcher(compile(&patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}))
	case m.PatchType == admissionregistrationv1.PatchTypeApplyConfiguration && m.ApplyConfiguration != nil:
		return patch.NewApplyConfigurationPatcher(compile(&patch.ApplyConfigurationCondition{Expression: m.ApplyConfiguration.Expression}))
	}
	return nil
}

// mutate returns what a mutation makes of an object that is in the version of a
// target and remains what it is.
func (m *mutating) mutate(ctx context.Context, by patch.Patcher, in *expression.Input, target *match.Target, types managedfields.TypeConverter) (runtime.Object, error) {
	mutated, err := by.Patch(m.compiler.CreateContext(ctx), patch.Request{
		MatchedResource:     target.Resource,
		VersionedAttributes: in.Attributes,
		ObjectInterfaces:    interfaces{target: target},
		OptionalVariables:   in.Bindings,
		Namespace:           in.Namespace,
		TypeConverter:       types,
	}, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return nil, err
	}
	document, err := json.Marshal(mutated)
	if err != nil {
		return nil, err
	}
	return target.Decode(document)
}
