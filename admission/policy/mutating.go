package policy

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/expression"
	"github.com/miniapi/miniapi/admission/match"
	"github.com/miniapi/miniapi/admission/reinvocation"
	"github.com/miniapi/miniapi/registry"
)

const mutatingStep = "MutatingAdmissionPolicy"

// Mutating returns the step that applies MutatingAdmissionPolicies.
func (p *Policies) Mutating() registry.AdmissionStep {
	return registry.AdmissionStep{Name: mutatingStep, Admit: p.mutate}
}

// mutate applies one policy after the other, each to the object as the policies before it left
// it. It returns one error for all failures.
func (p *Policies) mutate(ctx context.Context, attributes *registry.Attributes) error {
	request, all, err := p.mutating.invocations(ctx, attributes)
	if err != nil || len(all) == 0 {
		return err
	}
	reinvoke := reinvocation.Begin(mutatingStep, attributes)
	defer reinvoke.End()
	var failures []failure
	for i := range all {
		found, err := p.invoke(ctx, request, &all[i], reinvoke)
		if err != nil {
			return err
		}
		if !all[i].policy.failOpen {
			failures = append(failures, found...)
		}
	}
	return denied(request, failures)
}

// invoke evaluates the conditions of one invocation and applies its mutations.
func (p *Policies) invoke(ctx context.Context, r *match.Request, in *invocation[*mutator], reinvoke *reinvocation.Context) ([]failure, error) {
	if in.err != nil {
		return []failure{in.failed(in.err, "")}, nil
	}
	program := in.policy.program()
	if program.err != nil {
		return []failure{in.failed(program.err, "")}, nil
	}
	input, err := p.input(ctx, r, in)
	if err != nil {
		return nil, err
	}
	matches, err := program.conditions.Match(ctx, input)
	switch {
	case err != nil:
		return []failure{in.failed(err, metav1.StatusReasonInvalid)}, nil
	case !matches, !reinvoke.ShouldInvoke(in.id()), r.Object == nil:
		return nil, nil
	}
	before := r.Object
	failures, err := p.applyMutations(ctx, r, in)
	if err != nil {
		return nil, err
	}
	if !equality.Semantic.DeepEqual(before, r.Object) {
		reinvoke.ObjectChanged()
	}
	if program.reinvocable {
		reinvoke.AddInvoked(in.id())
	}
	return failures, nil
}

// applyMutations applies all mutations of one policy, also those after a failure.
func (p *Policies) applyMutations(ctx context.Context, r *match.Request, in *invocation[*mutator]) ([]failure, error) {
	var failures []failure
	program := in.policy.program()
	types, err := r.Catalog.Types(r.Attributes.Resource, r.Subresource)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	for _, mutation := range program.mutations {
		input, err := p.input(ctx, r, in)
		if err != nil {
			return nil, err
		}
		mutated, err := program.mutate(ctx, mutation, input, subject{target: in.target, types: types})
		if err == nil {
			err = r.Replace(*in.target, mutated)
		}
		var status *apierrors.StatusError
		switch {
		case errors.As(err, &status):
			return nil, status
		case err != nil:
			failures = append(failures, in.failed(err, metav1.StatusReasonInvalid))
		}
	}
	return failures, nil
}

// input returns the variables for the current state of the request.
func (p *Policies) input(ctx context.Context, r *match.Request, in *invocation[*mutator]) (*expression.Input, error) {
	namespace, err := namespaceObject(ctx, r)
	if err != nil {
		return nil, err
	}
	input, err := expression.NewInput(r, in.target, registry.UserFrom(ctx))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	input = input.WithParams(in.param)
	input.SetNamespace(namespace)
	return input, nil
}

// failure is an error of one invocation, as shown to the client.
type failure struct {
	message string
	reason  metav1.StatusReason
}

func (in *invocation[P]) failed(err error, reason metav1.StatusReason) failure {
	if in.binding == nil {
		return failure{fmt.Sprintf("policy %q denied request: %v", in.policy.name, err), reason}
	}
	return failure{fmt.Sprintf("policy '%s' with binding '%s' denied request: %v", in.policy.name, in.binding.name, err), reason}
}

// denied returns the first failure as an error, with all failures as its causes. Without failures
// it returns nil.
func denied(r *match.Request, failures []failure) error {
	if len(failures) == 0 {
		return nil
	}
	status := forbidden(r, errors.New("admission request denied by policy"))
	status.ErrStatus.Message = failures[0].message
	if failures[0].reason != "" {
		status.ErrStatus.Reason = failures[0].reason
	}
	for _, f := range failures {
		status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{Message: f.message})
	}
	return status
}
