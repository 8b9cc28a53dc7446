package policy

import (
	"github.com/google/cel-go/cel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/miniapi/miniapi/admission/expression"
)

// compiler compiles the expressions of one policy with its variables and params.
type compiler struct {
	*plugincel.CompositedCompiler
	declared plugincel.OptionalVariableDeclarations
}

func newCompiler(variables []admissionregistrationv1.Variable, params bool) (*compiler, error) {
	composed, err := plugincel.NewCompositedCompiler(expression.Environment())
	if err != nil {
		return nil, err
	}
	c := &compiler{composed, plugincel.OptionalVariableDeclarations{HasParams: params, HasAuthorizer: true}}
	for _, v := range variables {
		c.CompileAndStoreVariable(variable{v.Name, v.Expression}, c.declared, environment.StoredExpressions)
	}
	return c, nil
}

func (c *compiler) all(expressions []plugincel.ExpressionAccessor, declared plugincel.OptionalVariableDeclarations) plugincel.ConditionEvaluator {
	return c.CompileCondition(expressions, declared, environment.StoredExpressions)
}

func (c *compiler) conditions(list []admissionregistrationv1.MatchCondition, failOpen bool) *expression.Conditions {
	return expression.NewConditions(list, expression.Compile{
		Compiler: func() plugincel.ConditionCompiler { return c.CompositedCompiler },
		Declared: c.declared,
	}, failOpen)
}

// variable is an expression that other expressions refer to by its name.
type variable struct{ name, text string }

// GetName implements cel.NamedExpressionAccessor.
func (v variable) GetName() string { return v.name }

// GetExpression implements cel.ExpressionAccessor.
func (v variable) GetExpression() string { return v.text }

// ReturnTypes implements cel.ExpressionAccessor.
func (variable) ReturnTypes() []*cel.Type { return []*cel.Type{cel.AnyType, cel.DynType} }

// text is an expression that yields a string, or null if orNull is set.
type text struct {
	expression string
	orNull     bool
}

// GetExpression implements cel.ExpressionAccessor.
func (t text) GetExpression() string { return t.expression }

// ReturnTypes implements cel.ExpressionAccessor.
func (t text) ReturnTypes() []*cel.Type {
	if t.orNull {
		return []*cel.Type{cel.StringType, cel.NullType}
	}
	return []*cel.Type{cel.StringType}
}
