package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// validating is a compiled ValidatingAdmissionPolicy.
type validating struct {
	fault       error // nothing could be compiled
	failOpen    bool
	conditions  *expression.Conditions
	validations []admissionregistrationv1.Validation
	keys        []string // of annotations
	// Each has a result for each validation, or each annotation.
	checks, messages, annotations plugincel.ConditionEvaluator
}

func newValidating(obj runtime.Object) policy[*validating] {
	p := obj.(*admissionregistrationv1.ValidatingAdmissionPolicy)
	return policy[*validating]{
		name:     p.Name,
		criteria: match.ForResources(p.Spec.MatchConstraints),
		params:   p.Spec.ParamKind,
		failOpen: failsOpen(p.Spec.FailurePolicy),
		program:  once(func() *validating { return compileValidating(&p.Spec) }),
	}
}

func compileValidating(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) *validating {
	v := &validating{failOpen: failsOpen(spec.FailurePolicy), validations: spec.Validations}
	c, err := newCompiler(spec.Variables, spec.ParamKind != nil)
	if err != nil {
		v.fault = err
		return v
	}
	checks := make([]plugincel.ExpressionAccessor, len(spec.Validations))
	messages := make([]plugincel.ExpressionAccessor, len(spec.Validations))
	for i, one := range spec.Validations {
		checks[i] = expression.Bool(one.Expression)
		if one.MessageExpression != "" {
			messages[i] = text{expression: one.MessageExpression}
		}
	}
	annotations := make([]plugincel.ExpressionAccessor, len(spec.AuditAnnotations))
	for i, one := range spec.AuditAnnotations {
		annotations[i] = text{expression: one.ValueExpression, orNull: true}
		v.keys = append(v.keys, one.Key)
	}
	v.conditions = c.conditions(spec.MatchConditions, v.failOpen)
	v.checks, v.annotations = c.all(checks, c.declared), c.all(annotations, c.declared)
	v.messages = c.all(messages, plugincel.OptionalVariableDeclarations{HasParams: c.declared.HasParams})
	return v
}

// denial is why a policy does not want a request. Validations are counted from
// 0; what concerns none of them has index -1 and is never a mere warning.
type denial struct {
	index   int
	message string
	reason  metav1.StatusReason // "" for an expression that cannot be told
}

// verdict is what a policy says to a request.
type verdict struct {
	denials     []denial
	annotations map[string]string
}

// failed is the verdict of a policy that cannot be applied.
func (v *validating) failed(err error) verdict {
	if v.failOpen {
		return verdict{}
	}
	return verdict{denials: []denial{{message: err.Error()}}}
}

func (v *validating) judge(ctx context.Context, in *expression.Input) verdict {
	if v.fault != nil {
		return v.failed(v.fault)
	}
	matches, err := v.conditions.Match(ctx, in)
	switch {
	case err != nil:
		return v.failed(err)
	case !matches:
		return verdict{}
	}
	checks, budget, err := v.checks.ForInput(ctx, in.Attributes, in.Request, in.Bindings, in.Namespace, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return v.failed(err)
	}
	unprivileged := plugincel.OptionalVariableBindings{VersionedParams: in.Bindings.VersionedParams}
	messages, _, spent := v.messages.ForInput(ctx, in.Attributes, in.Request, unprivileged, in.Namespace, budget)
	annotations, _, err := v.annotations.ForInput(ctx, in.Attributes, in.Request, in.Bindings, in.Namespace, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return v.failed(err)
	}
	out := verdict{annotations: map[string]string{}}
	for i := range checks {
		if said, ok := v.decide(i, checks[i], messages, spent); ok {
			out.denials = append(out.denials, said)
		}
	}
	for i := range annotations {
		v.annotate(&out, v.keys[i], annotations[i])
	}
	return out
}

// decide returns why a validation does not want the request, if that is so.
// spent is the error of the messages.
func (v *validating) decide(i int, check plugincel.EvaluationResult, messages []plugincel.EvaluationResult, spent error) (denial, bool) {
	switch {
	case check.Error != nil:
		return denial{index: i, message: check.Error.Error()}, !v.failOpen
	case errors.Is(spent, apiservercel.ErrInternal), errors.Is(spent, apiservercel.ErrOutOfBudget):
		return denial{index: i, message: fmt.Sprintf("failed messageExpression: %s", spent)}, !v.failOpen
	case check.EvalResult == celtypes.True:
		return denial{}, false
	}
	said := denial{index: i, message: v.message(i, messages), reason: metav1.StatusReasonInvalid}
	if reason := v.validations[i].Reason; reason != nil {
		said.reason = *reason
	}
	return said, true
}

// message is what the messageExpression says, if that makes sense, or else the
// fixed message, or else the expression itself.
func (v *validating) message(i int, messages []plugincel.EvaluationResult) string {
	if len(messages) > i && messages[i].Error == nil && messages[i].EvalResult != nil {
		said, _ := messages[i].EvalResult.Value().(string)
		said = strings.TrimSpace(said)
		if said != "" && len(said) <= celconfig.MaxEvaluatedMessageExpressionSizeBytes && !strings.Contains(said, "\n") {
			return said
		}
	}
	if fixed := v.validations[i].Message; fixed != "" {
		return strings.TrimSpace(fixed)
	}
	return "failed expression: " + strings.TrimSpace(v.validations[i].Expression)
}

// annotate takes over what an annotation is; null and nothing are none.
func (v *validating) annotate(out *verdict, key string, result plugincel.EvaluationResult) {
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
