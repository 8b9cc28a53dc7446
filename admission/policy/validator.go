package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	celtypes "github.com/google/cel-go/common/types"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/miniapi/miniapi/admission/expression"
	"github.com/miniapi/miniapi/admission/match"
)

// validator is a compiled ValidatingAdmissionPolicy.
type validator struct {
	err         error // set if the compiler could not be created
	failOpen    bool
	conditions  *expression.Conditions
	validations []admissionregistrationv1.Validation
	keys        []string // keys of the audit annotations
	// checks and messages have one result per validation, annotations one per audit annotation.
	checks, messages, annotations plugincel.ConditionEvaluator
}

func newValidatingPolicy(obj runtime.Object) policy[*validator] {
	p := obj.(*admissionregistrationv1.ValidatingAdmissionPolicy)
	return policy[*validator]{
		name:     p.Name,
		criteria: match.ForResources(p.Spec.MatchConstraints),
		params:   p.Spec.ParamKind,
		failOpen: failsOpen(p.Spec.FailurePolicy),
		program:  sync.OnceValue(func() *validator { return compileValidating(&p.Spec) }),
	}
}

func compileValidating(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) *validator {
	v := &validator{failOpen: failsOpen(spec.FailurePolicy), validations: spec.Validations}
	c, err := newCompiler(spec.Variables, spec.ParamKind != nil)
	if err != nil {
		v.err = err
		return v
	}
	checks := make([]plugincel.ExpressionAccessor, len(spec.Validations))
	messages := make([]plugincel.ExpressionAccessor, len(spec.Validations))
	for i, validation := range spec.Validations {
		checks[i] = expression.Bool(validation.Expression)
		if validation.MessageExpression != "" {
			messages[i] = text{expression: validation.MessageExpression}
		}
	}
	annotations := make([]plugincel.ExpressionAccessor, len(spec.AuditAnnotations))
	for i, annotation := range spec.AuditAnnotations {
		annotations[i] = text{expression: annotation.ValueExpression, orNull: true}
		v.keys = append(v.keys, annotation.Key)
	}
	v.conditions = c.conditions(spec.MatchConditions, v.failOpen)
	v.checks, v.annotations = c.all(checks, c.declared), c.all(annotations, c.declared)
	v.messages = c.all(messages, plugincel.OptionalVariableDeclarations{HasParams: c.declared.HasParams})
	return v
}

// denial is the reason why a policy denies a request. index is the index of the validation, or -1
// for an audit annotation. A denial with index -1 always denies, whatever the binding says.
type denial struct {
	index   int
	message string
	reason  metav1.StatusReason // "" if an expression failed
}

// decision is the result of a policy for a request.
type decision struct {
	denials     []denial
	annotations map[string]string
}

// failed returns the decision of a policy that cannot be evaluated.
func (v *validator) failed(err error) decision {
	if v.failOpen {
		return decision{}
	}
	return decision{denials: []denial{{message: err.Error()}}}
}

func (v *validator) evaluate(ctx context.Context, in *expression.Input) decision {
	if v.err != nil {
		return v.failed(v.err)
	}
	matches, err := v.conditions.Match(ctx, in)
	switch {
	case err != nil:
		return v.failed(err)
	case !matches:
		return decision{}
	}
	checks, budget, err := v.checks.ForInput(ctx, in.Attributes, in.Request, in.Bindings, in.Namespace, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return v.failed(err)
	}
	unprivileged := plugincel.OptionalVariableBindings{VersionedParams: in.Bindings.VersionedParams}
	messages, _, messagesErr := v.messages.ForInput(ctx, in.Attributes, in.Request, unprivileged, in.Namespace, budget)
	annotations, _, err := v.annotations.ForInput(ctx, in.Attributes, in.Request, in.Bindings, in.Namespace, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return v.failed(err)
	}
	out := decision{annotations: map[string]string{}}
	for i := range checks {
		if d, ok := v.denial(i, checks[i], messages, messagesErr); ok {
			out.denials = append(out.denials, d)
		}
	}
	for i := range annotations {
		v.annotate(&out, v.keys[i], annotations[i])
	}
	return out
}

// denial returns the denial of a validation, if it denies the request. messagesErr is the error
// of evaluating messages.
func (v *validator) denial(i int, check plugincel.EvaluationResult, messages []plugincel.EvaluationResult, messagesErr error) (denial, bool) {
	switch {
	case check.Error != nil:
		return denial{index: i, message: check.Error.Error()}, !v.failOpen
	case errors.Is(messagesErr, apiservercel.ErrInternal), errors.Is(messagesErr, apiservercel.ErrOutOfBudget):
		return denial{index: i, message: fmt.Sprintf("failed messageExpression: %s", messagesErr)}, !v.failOpen
	case check.EvalResult == celtypes.True:
		return denial{}, false
	}
	d := denial{index: i, message: v.message(i, messages), reason: metav1.StatusReasonInvalid}
	if reason := v.validations[i].Reason; reason != nil {
		d.reason = *reason
	}
	return d, true
}

// message returns the result of the messageExpression if it is valid, or else the fixed message,
// or else the expression itself.
func (v *validator) message(i int, messages []plugincel.EvaluationResult) string {
	if len(messages) > i && messages[i].Error == nil && messages[i].EvalResult != nil {
		text, _ := messages[i].EvalResult.Value().(string)
		text = strings.TrimSpace(text)
		if text != "" && len(text) <= celconfig.MaxEvaluatedMessageExpressionSizeBytes && !strings.Contains(text, "\n") {
			return text
		}
	}
	if fixed := v.validations[i].Message; fixed != "" {
		return strings.TrimSpace(fixed)
	}
	return "failed expression: " + strings.TrimSpace(v.validations[i].Expression)
}

// annotate adds an audit annotation to a decision. Null and empty values are omitted.
func (v *validator) annotate(out *decision, key string, result plugincel.EvaluationResult) {
	switch {
	case result.Error == nil:
		value, _ := result.EvalResult.Value().(string)
		if value = strings.TrimSpace(value); value != "" {
			out.annotations[key] = value
		}
	case !v.failOpen:
		out.denials = append(out.denials, denial{index: -1, message: result.Error.Error()})
	}
}
