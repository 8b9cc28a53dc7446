package policy

import (
	"context"
	"encoding/json"
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

// Validating returns the step that applies ValidatingAdmissionPolicies.
func (p *Policies) Validating() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "ValidatingAdmissionPolicy", Validate: p.validate}
}

// validate evaluates all policies and returns the first denial.
func (p *Policies) validate(ctx context.Context, attributes *registry.Attributes) error {
	request, all, err := p.validating.invocations(ctx, attributes)
	if err != nil {
		return err
	}
	var first error
	for i := range all {
		denied, err := p.evaluate(ctx, request, &all[i])
		if err != nil {
			return err
		}
		if denied != nil && first == nil {
			first = denialError(request, &all[i], denied)
		}
	}
	return first
}

// evaluate returns the denial of one invocation, nil if it admits the request.
func (p *Policies) evaluate(ctx context.Context, r *match.Request, in *invocation[*validator]) (*denial, error) {
	var input *expression.Input
	if in.err == nil {
		var err error
		if input, err = expression.NewInput(r, in.target, registry.UserFrom(ctx)); err != nil {
			in.err = fmt.Errorf("failed to configure binding: failed to convert object version: %w", err)
		}
	}
	switch {
	case in.err != nil && in.policy.failOpen:
		return nil, nil
	case in.err != nil:
		return &denial{message: in.err.Error()}, nil
	}
	namespace, err := namespaceObject(ctx, r)
	if err != nil {
		return nil, err
	}
	input = input.WithParams(in.param)
	input.SetNamespace(namespace)
	decided := in.policy.program().evaluate(ctx, input)
	for key, value := range decided.annotations {
		registry.AddAuditAnnotation(ctx, in.policy.name+"/"+key, value)
	}
	return p.enforce(ctx, in, decided.denials), nil
}

// enforce carries out the validation actions of the binding for denials. It returns the first one
// that denies the request.
func (p *Policies) enforce(ctx context.Context, in *invocation[*validator], denials []denial) *denial {
	var first *denial
	for i := range denials {
		d := &denials[i]
		actions := in.binding.actions
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
					in.policy.name, in.binding.name, d.message))
			case admissionregistrationv1.Audit:
				annotateFailure(ctx, in, d)
			}
		}
	}
	return first
}

// validationFailure is the value of the audit annotation of a failed validation, as in
// kube-apiserver.
type validationFailure struct {
	Message           string                                     `json:"message"`
	Policy            string                                     `json:"policy"`
	Binding           string                                     `json:"binding"`
	ExpressionIndex   int                                        `json:"expressionIndex"`
	ValidationActions []admissionregistrationv1.ValidationAction `json:"validationActions"`
}

// annotateFailure adds a failed validation to the audit log.
func annotateFailure(ctx context.Context, in *invocation[*validator], d *denial) {
	value, err := json.Marshal([]validationFailure{{
		Message: d.message, Policy: in.policy.name, Binding: in.binding.name, ExpressionIndex: d.index, ValidationActions: in.binding.actions,
	}})
	if err == nil { // strings and numbers can always be encoded
		registry.AddAuditAnnotation(ctx, "validation.policy.admission.k8s.io/validation_failure", string(value))
	}
}

// denialError returns the error of a denied request.
func denialError(r *match.Request, in *invocation[*validator], d *denial) error {
	source := fmt.Sprintf("ValidatingAdmissionPolicy '%s'", in.policy.name)
	if in.binding != nil {
		source += fmt.Sprintf(" with binding '%s'", in.binding.name)
	}
	message := source + " denied request: " + d.message
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
	return apierrors.NewForbidden(r.Target.Resource.GroupResource(), match.ShownName(r.Attributes), err)
}

// codeOf returns the status code of a reason that a validation may have.
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
