package expression

import (
	"context"
	"sync"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Conditions are the match conditions of a webhook or a policy, compiled on first use. They are
// safe for concurrent use.
type Conditions struct {
	evaluator func() plugincel.ConditionEvaluator
	failOpen  bool
}

// Compile configures how conditions are compiled and which variables they have.
type Compile struct {
	// Compiler is called once. Nil: there are no variables.
	Compiler func() plugincel.ConditionCompiler
	Declared plugincel.OptionalVariableDeclarations
}

// NewConditions returns conditions. If they cannot be evaluated, failOpen skips their webhook
// or policy; otherwise the request is rejected. Without conditions the result is nil, which
// always matches.
func NewConditions(conditions []admissionregistrationv1.MatchCondition, compile Compile, failOpen bool) *Conditions {
	if len(conditions) == 0 {
		return nil
	}
	return &Conditions{failOpen: failOpen, evaluator: sync.OnceValue(func() plugincel.ConditionEvaluator {
		accessors := make([]plugincel.ExpressionAccessor, len(conditions))
		for i := range conditions {
			accessors[i] = Bool(conditions[i].Expression)
		}
		compiler := sharedCompiler
		if compile.Compiler != nil {
			compiler = compile.Compiler
		}
		compile.Declared.HasAuthorizer = true
		return compiler().CompileCondition(accessors, compile.Declared, environment.StoredExpressions)
	})}
}

// Match reports whether all conditions are true. A false condition takes precedence over an
// error of another one.
func (c *Conditions) Match(ctx context.Context, in *Input) (bool, error) {
	if c == nil {
		return true, nil
	}
	results, _, err := c.evaluator().ForInput(ctx, in.Attributes, in.Request, in.Bindings, nil, celconfig.RuntimeCELCostBudgetMatchConditions)
	if err != nil {
		return false, c.failure(err)
	}
	var errs []error
	for _, result := range results {
		if result.Error != nil {
			errs = append(errs, result.Error)
		} else if result.EvalResult == celtypes.False {
			return false, nil
		}
	}
	if len(errs) > 0 {
		return false, c.failure(utilerrors.NewAggregate(errs))
	}
	return true, nil
}

// failure returns the error of conditions that cannot be evaluated, nil with failOpen.
func (c *Conditions) failure(err error) error {
	if c.failOpen {
		return nil
	}
	return err
}

// Bool is an expression with a boolean result.
type Bool string

// GetExpression implements cel.ExpressionAccessor.
func (e Bool) GetExpression() string { return string(e) }

// ReturnTypes implements cel.ExpressionAccessor.
func (Bool) ReturnTypes() []*cel.Type { return []*cel.Type{cel.BoolType} }
