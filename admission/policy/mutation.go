package policy

import (
	"context"
	"errors"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/miniapi/miniapi/admission/expression"
	"github.com/miniapi/miniapi/admission/match"
)

// mutation is a compiled mutation of a MutatingAdmissionPolicy.
type mutation struct {
	evaluator plugincel.MutatingEvaluator
	patch     patch
}

// patch returns the object of a mutation with a change. The value of the mutation's expression
// describes the change.
type patch func(value ref.Val, subject *subject) (runtime.Object, error)

// subject is an object in the version of a target. It must not be modified.
type subject struct {
	runtime.Object
	target *match.Target
	types  managedfields.TypeConverter
}

// mutation returns false for a mutation without an expression.
func (c *compiler) mutation(m *admissionregistrationv1.Mutation) (mutation, bool) {
	declared := c.declared
	declared.HasPatchTypes = true
	compile := func(text string, result *cel.Type) plugincel.MutatingEvaluator {
		return c.CompileMutatingEvaluator(mutationExpression{text, result}, declared, environment.StoredExpressions)
	}
	switch {
	case m.PatchType == admissionregistrationv1.PatchTypeJSONPatch && m.JSONPatch != nil:
		return mutation{compile(m.JSONPatch.Expression, jsonPatchType), applyJSONPatch}, true
	case m.PatchType == admissionregistrationv1.PatchTypeApplyConfiguration && m.ApplyConfiguration != nil:
		return mutation{compile(m.ApplyConfiguration.Expression, applyConfigurationType), mergeApplyConfiguration}, true
	}
	return mutation{}, false
}

// evaluate returns the value of the expression. ctx must be a context of the compiler.
func (m mutation) evaluate(ctx context.Context, in *expression.Input) (ref.Val, error) {
	if errs := m.evaluator.CompilationErrors(); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	result, _, err := m.evaluator.ForInput(ctx, in.Attributes, in.Request, in.Bindings, in.Namespace, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return nil, err
	}
	return result.EvalResult, result.Error
}

// mutationExpression implements cel.ExpressionAccessor.
type mutationExpression struct {
	text   string
	result *cel.Type
}

// GetExpression implements cel.ExpressionAccessor.
func (e mutationExpression) GetExpression() string { return e.text }

// ReturnTypes implements cel.ExpressionAccessor.
func (e mutationExpression) ReturnTypes() []*cel.Type { return []*cel.Type{e.result} }
