package policy

import (
	"context"
	"encoding/json"
	"sync"

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

// mutator is a compiled MutatingAdmissionPolicy.
type mutator struct {
	err        error // set if the compiler could not be created
	conditions *expression.Conditions
	compiler   *compiler
	mutations  []patch.Patcher
	// reinvocable is set for policies with reinvocation policy IfNeeded.
	reinvocable bool
}

func newMutatingPolicy(obj runtime.Object) policy[*mutator] {
	p := obj.(*admissionregistrationv1.MutatingAdmissionPolicy)
	return policy[*mutator]{
		name:     p.Name,
		criteria: match.ForResources(p.Spec.MatchConstraints),
		params:   p.Spec.ParamKind,
		failOpen: failsOpen(p.Spec.FailurePolicy),
		program:  sync.OnceValue(func() *mutator { return compileMutating(&p.Spec) }),
	}
}

func compileMutating(spec *admissionregistrationv1.MutatingAdmissionPolicySpec) *mutator {
	m := &mutator{reinvocable: spec.ReinvocationPolicy == admissionregistrationv1.IfNeededReinvocationPolicy}
	if m.compiler, m.err = newCompiler(spec.Variables, spec.ParamKind != nil); m.err != nil {
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

// mutation returns the patcher of a mutation, nil for a mutation without an expression.
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

// mutate returns a mutated copy of the object of the input, in the version of the target.
func (m *mutator) mutate(ctx context.Context, by patch.Patcher, in *expression.Input, target *match.Target, types managedfields.TypeConverter) (runtime.Object, error) {
	mutated, err := by.Patch(m.compiler.CreateContext(ctx), patch.Request{
		MatchedResource:     target.Resource,
		VersionedAttributes: in.Attributes,
		ObjectInterfaces:    objectInterfaces{target: target},
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
