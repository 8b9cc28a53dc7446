// Package condition checks CEL expressions about an object and says why one is not met.
package condition

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/miniapi/miniapi/admission/expression"
)

// maxValue is the maximum length of a value in a reason.
const maxValue = 200

// Condition is a CEL expression with the libraries of kube-apiserver and the variable object, which
// is also called self. Safe for concurrent use.
type Condition struct {
	env *cel.Env
	// parts must all be true: the operands of the conjunctions at the top of the expression.
	parts []part
}

// part is an expression.
type part struct {
	text    string
	program cel.Program
	// operands are the operands of a comparison that are not literals.
	operands []part
}

// environmentOfObject is the CEL environment with the variables. The process shares it.
var environmentOfObject = sync.OnceValues(func() (*cel.Env, error) {
	extended, err := expression.Environment().Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			cel.Variable("object", cel.DynType), cel.Variable("self", cel.DynType), cel.EnableMacroCallTracking(),
		},
	})
	if err != nil {
		return nil, err
	}
	return extended.Env(environment.StoredExpressions)
})

// Compile compiles an expression. Its type must be bool.
func Compile(text string) (*Condition, error) {
	env, err := environmentOfObject()
	if err != nil {
		return nil, err
	}
	compiled, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("the condition is not valid CEL: %w", issues.Err())
	}
	if kind := compiled.OutputType(); !kind.IsExactType(cel.BoolType) && !kind.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("the condition %q is a %s, not a bool", text, kind)
	}
	c := &Condition{env: env}
	native := compiled.NativeRep()
	for _, e := range conjuncts(native.Expr()) {
		p, err := c.part(e, native.SourceInfo())
		if err != nil { // the expression cannot be divided
			whole, err := env.Program(compiled)
			c.parts = []part{{text: text, program: whole}}
			return c, err
		}
		c.parts = append(c.parts, p)
	}
	return c, nil
}

// conjuncts returns the operands of the conjunctions at the top of an expression.
func conjuncts(e ast.Expr) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.LogicalAnd {
		return []ast.Expr{e}
	}
	var all []ast.Expr
	for _, operand := range e.AsCall().Args() {
		all = append(all, conjuncts(operand)...)
	}
	return all
}

var comparisons = map[string]bool{
	operators.Equals: true, operators.NotEquals: true, operators.In: true,
	operators.Less: true, operators.LessEquals: true, operators.Greater: true, operators.GreaterEquals: true,
}

// part returns the part of an expression, with its operands.
func (c *Condition) part(e ast.Expr, info *ast.SourceInfo) (part, error) {
	p, err := c.compile(e, info)
	if err != nil || e.Kind() != ast.CallKind || !comparisons[e.AsCall().FunctionName()] {
		return p, err
	}
	for _, operand := range e.AsCall().Args() {
		if operand.Kind() == ast.LiteralKind {
			continue
		}
		compiled, err := c.compile(operand, info)
		if err != nil {
			return p, err
		}
		p.operands = append(p.operands, compiled)
	}
	return p, nil
}

func (c *Condition) compile(e ast.Expr, info *ast.SourceInfo) (part, error) {
	text, err := parser.Unparse(e, info)
	if err != nil {
		return part{}, err
	}
	compiled, issues := c.env.Compile(text)
	if issues.Err() != nil {
		return part{}, issues.Err()
	}
	program, err := c.env.Program(compiled)
	return part{text: text, program: program}, err
}

// Unmet returns the reason for which an object does not meet the condition, "" if it does. A part
// that cannot be evaluated, for example because a field is absent, is not met.
func (c *Condition) Unmet(object map[string]any) string {
	variables := map[string]any{"object": object, "self": object}
	var reasons []string
	for _, p := range c.parts {
		if met, err := p.isTrue(variables); err != nil {
			reasons = append(reasons, fmt.Sprintf("%s: %v", p.text, err))
		} else if !met {
			reasons = append(reasons, p.text+" is false"+p.explain(variables))
		}
	}
	return strings.Join(reasons, "; ")
}

var errNotBool = errors.New("the value is not a bool")

func (p *part) isTrue(variables map[string]any) (bool, error) {
	value, _, err := p.program.Eval(variables)
	if err != nil {
		return false, err
	}
	met, ok := value.(types.Bool)
	if !ok {
		return false, errNotBool
	}
	return bool(met), nil
}

// explain returns the values of the operands.
func (p *part) explain(variables map[string]any) string {
	var text strings.Builder
	for _, operand := range p.operands {
		value, _, err := operand.program.Eval(variables)
		if err != nil {
			continue
		}
		shown := fmt.Sprintf("%v", value.Value())
		if len(shown) > maxValue {
			shown = shown[:maxValue] + "..."
		}
		fmt.Fprintf(&text, ", %s is %s", operand.text, shown)
	}
	return text.String()
}
