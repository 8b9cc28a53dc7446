package policy

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/expression"
	"github.com/miniapi/miniapi/admission/match"
	"github.com/miniapi/miniapi/registry"
)

// Validating is the step that applies ValidatingAdmissionPolicies.
func (p *Policies) Validating() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "ValidatingAdmissionPolicy", Validate: p.validate}
}

// validate applies all of them; the first that denies is the answer.
func (p *Policies) validate(ctx context.Context, attributes *registry.Attributes) error {
	request, all, err := p.validating.applications(ctx, attributes)
	if err != nil {
		return err
	}
	var first error
	for i := range all {
		denied, err := p.apply(ctx, request, &all[i])
		if err != nil {
			return err
		}
		if denied != nil && first == nil {
			first = refusal(request, &all[i], denied)
		}
	}
	return first
}

// apply returns why an application denies the request, nil if it does not.
func (p *Policies) apply(ctx context.Context, r *match.Request, one *application[*validating]) (*denial, error) {
	var input *expression.Input
	if one.fault == nil {
		var err error
		if input, err = expression.NewInput(r, one.target, registry.UserFrom(ctx)); err != nil {
			one.fault = fmt.Errorf("failed to configure binding: failed to convert object version: %w", err)
		}
	}
	switch {
	case one.fault != nil && one.policy.failOpen:
		return nil, nil
	case one.fault != nil:
		return &denial{message: one.fault.Error()}, nil
	}
	namespace, err := namespaceObject(ctx, r)
	if err != nil {
		return nil, err
	}
	input = input.WithParams(one.param)
	input.SetNamespace(namespace)
	said := one.policy.program().judge(ctx, input)
	for key, value := range said.annotations {
		p.log.DebugContext(ctx, "audit annotation of a policy", "key", one.policy.name+"/"+key, "value", value)
	}
	return p.act(ctx, one, said.denials), nil
}

// act does what a binding says to do about denials, and returns the first that
// counts.
func (p *Policies) act(ctx context.Context, one *application[*validating], denials []denial) *denial {
	var first *denial
	for i := range denials {
		d := &denials[i]
		actions := one.binding.actions
		if d.index < 0 {
			actions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
		}
		for _, action := range actions {
			switch action {
			case admissionregistrationv1.Deny:
				if first == nil {
					first = d
				}
			case admissionregistrationv1.Warn:
				registry.AddWarning(ctx, fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s",
					one.policy.name, one.binding.name, d.message))
			case admissionregistrationv1.Audit:
				p.log.DebugContext(ctx, "audit annotation of a policy", "key", "validation.policy.admission.k8s.io/validation_failure",
					"policy", one.policy.name, "binding", one.binding.name, "expression", d.index, "message", d.message)
			}
		}
	}
	return first
}

// refusal is the answer to a request that is denied.
func refusal(r *match.Request, one *application[*validating], d *denial) error {
	by := fmt.Sprintf("ValidatingAdmissionPolicy '%s'", one.policy.name)
	if one.binding != nil {
		by += fmt.Sprintf(" with binding '%s'", one.binding.name)
	}
	message := by + " denied request: " + d.message
	reason := d.reason
	if reason == "" {
		reason = metav1.StatusReasonInvalid
	}
	status := forbidden(r, errors.New(message))
	status.ErrStatus.Reason, status.ErrStatus.Code = reason, codeOf(reason)
	status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{Message: message})
	return status
}

func forbidden(r *match.Request, err error) *apierrors.StatusError {
	return apierrors.NewForbidden(r.Resource.GroupResource(), r.ShownName(), err)
}

// codeOf knows the reasons that a validation may have.
func codeOf(reason metav1.StatusReason) int32 {
	switch reason {
	case metav1.StatusReasonForbidden:
		return http.StatusForbidden
	case metav1.StatusReasonUnauthorized:
		return http.StatusUnauthorized
	case metav1.StatusReasonRequestEntityTooLarge:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusUnprocessableEntity
}
