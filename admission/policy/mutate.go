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

// Mutating is the step that applies MutatingAdmissionPolicies.
func (p *Policies) Mutating() registry.AdmissionStep {
	return registry.AdmissionStep{Name: mutatingStep, Admit: p.mutate}
}

// mutate applies one policy after the other, each to what those before have made
// of the object. What they could not do is one answer in the end.
func (p *Policies) mutate(ctx context.Context, attributes *registry.Attributes) error {
	request, all, err := p.mutating.applications(ctx, attributes)
	if err != nil || len(all) == 0 {
		return err
	}
	turn := reinvocation.Begin(mutatingStep, attributes)
	defer turn.End()
	var faults []fault
	for i := range all {
		found, err := p.mutateOnce(ctx, request, &all[i], turn)
		if err != nil {
			return err
		}
		if !all[i].policy.failOpen {
			faults = append(faults, found...)
		}
	}
	return faulty(request, faults)
}

// mutateOnce carries out one application.
func (p *Policies) mutateOnce(ctx context.Context, r *match.Request, one *application[*mutating], turn *reinvocation.Turns) ([]fault, error) {
	if one.fault != nil {
		return []fault{one.failed(one.fault, "")}, nil
	}
	program := one.policy.program()
	if program.fault != nil {
		return []fault{one.failed(program.fault, "")}, nil
	}
	input, err := p.input(ctx, r, one)
	if err != nil {
		return nil, err
	}
	matches, err := program.conditions.Match(ctx, input)
	switch {
	case err != nil:
		return []fault{one.failed(err, metav1.StatusReasonInvalid)}, nil
	case !matches, !turn.Due(one.id()), r.Object == nil:
		return nil, nil
	}
	before := r.Object
	faults, err := p.mutations(ctx, r, one, program)
	if err != nil {
		return nil, err
	}
	if !equality.Semantic.DeepEqual(before, r.Object) {
		turn.Changed()
	}
	if program.again {
		turn.Had(one.id())
	}
	return faults, nil
}

// mutations carries out those of one policy. One that fails does not keep the
// others from it.
func (p *Policies) mutations(ctx context.Context, r *match.Request, one *application[*mutating], program *mutating) ([]fault, error) {
	var faults []fault
	types, err := r.Store.Types(r.Subresource)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	for _, mutation := range program.mutations {
		input, err := p.input(ctx, r, one)
		if err != nil {
			return nil, err
		}
		mutated, err := program.mutate(ctx, mutation, input, one.target, types)
		if err == nil {
			err = r.Replace(*one.target, mutated)
		}
		var status *apierrors.StatusError
		switch {
		case errors.As(err, &status):
			return nil, status
		case err != nil:
			faults = append(faults, one.failed(err, metav1.StatusReasonInvalid))
		}
	}
	return faults, nil
}

// input shows the request as it is now.
func (p *Policies) input(ctx context.Context, r *match.Request, one *application[*mutating]) (*expression.Input, error) {
	namespace, err := namespaceObject(ctx, r)
	if err != nil {
		return nil, err
	}
	input, err := expression.NewInput(r, one.target, registry.UserFrom(ctx))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	input = input.WithParams(one.param)
	input.SetNamespace(namespace)
	return input, nil
}

// fault is why an application could not be carried out.
type fault struct {
	message string
	reason  metav1.StatusReason
}

func (one *application[P]) failed(err error, reason metav1.StatusReason) fault {
	if one.binding == nil {
		return fault{fmt.Sprintf("policy %q denied request: %v", one.policy.name, err), reason}
	}
	return fault{fmt.Sprintf("policy '%s' with binding '%s' denied request: %v", one.policy.name, one.binding.name, err), reason}
}

// faulty is the answer where there are faults: the first of them, with all as
// its causes.
func faulty(r *match.Request, faults []fault) error {
	if len(faults) == 0 {
		return nil
	}
	status := forbidden(r, errors.New("admission request denied by policy"))
	status.ErrStatus.Message = faults[0].message
	if faults[0].reason != "" {
		status.ErrStatus.Reason = faults[0].reason
	}
	for _, f := range faults {
		status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{Message: f.message})
	}
	return status
}
