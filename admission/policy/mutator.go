package policy

import (
	"context"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/admission/expression"
	"github.com/miniapi/miniapi/admission/match"
)

// mutator is a compiled MutatingAdmissionPolicy.
type mutator struct {
	err        error // set if the compiler could not be created
	conditions *expression.Conditions
	compiler   *compiler
	mutations  []mutation
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
		if mutation, ok := m.compiler.mutation(&spec.Mutations[i]); ok {
			m.mutations = append(m.mutations, mutation)
		}
	}
	return m
}

// mutate returns a mutated copy of the object of the input, in the version of the target.
func (m *mutator) mutate(ctx context.Context, by mutation, in *expression.Input, on subject) (runtime.Object, error) {
	value, err := by.evaluate(m.compiler.CreateContext(ctx), in)
	if err != nil {
		return nil, err
	}
	on.Object = in.Attributes.VersionedObject.Object()
	return by.patch(value, &on)
}
