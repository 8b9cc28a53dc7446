package admissionregistration

import (
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/miniapi/miniapi/kinds/kind"
)

// withExpressions adds the compilation of the kind's expressions to its validation. The function
// returns the expressions of an object in the order of their errors.
func withExpressions[T kind.Object](d kind.Definition[T], expressions func(obj T) []expression) kind.Definition[T] {
	create, update := d.ValidateCreate, d.ValidateUpdate
	if create == nil {
		create = d.Validate
	}
	if update == nil {
		update = func(obj, _ T) field.ErrorList { return d.Validate(obj) }
	}
	d.ValidateCreate = func(obj T) field.ErrorList {
		return append(create(obj), compileAll(expressions(obj), nil)...)
	}
	d.ValidateUpdate = func(obj, old T) field.ErrorList {
		return append(update(obj, old), compileAll(expressions(obj), expressions(old))...)
	}
	return d
}

// expression is one CEL expression of an object.
type expression struct {
	at       *field.Path
	text     string
	types    []*cel.Type
	declared plugincel.OptionalVariableDeclarations
	// variable is the name by which later expressions refer to this one. composed is set for
	// expressions that may refer to variables.
	variable string
	composed bool
}

// GetExpression implements cel.ExpressionAccessor.
func (e expression) GetExpression() string { return e.text }

// ReturnTypes implements cel.ExpressionAccessor.
func (e expression) ReturnTypes() []*cel.Type { return e.types }

// GetName implements cel.NamedExpressionAccessor.
func (e expression) GetName() string { return e.variable }

// The types that expressions may evaluate to.
var (
	truth         = []*cel.Type{cel.BoolType}
	anything      = []*cel.Type{cel.AnyType, cel.DynType}
	text          = []*cel.Type{cel.StringType}
	textOrNull    = []*cel.Type{cel.StringType, cel.NullType}
	patchType     = []*cel.Type{cel.ListType(celtypes.NewObjectType("JSONPatch"))}
	configuration = []*cel.Type{celtypes.NewObjectType("Object")}
)

// environments are shared by the process and created with the first expression.
var environments = sync.OnceValue(func() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
})

// stateless compiles expressions without variables.
var stateless = sync.OnceValue(func() plugincel.Compiler { return plugincel.NewCompiler(environments()) })

// compileAll returns the errors of expressions. Unchanged expressions may use the library of stored
// expressions; a new expression may use only the library of new expressions.
func compileAll(all, before []expression) field.ErrorList {
	if len(all) == 0 || slices.EqualFunc(all, before, sameText) {
		return nil
	}
	var errs field.ErrorList
	var composing *plugincel.CompositedCompiler
	for _, e := range all {
		if strings.TrimSpace(e.text) == "" {
			continue
		}
		mode := environment.NewExpressions
		if slices.ContainsFunc(before, func(b expression) bool { return b.text == e.text }) {
			mode = environment.StoredExpressions
		}
		if e.variable != "" && composing == nil {
			var err error
			if composing, err = plugincel.NewCompositedCompiler(environments()); err != nil {
				return append(errs, field.InternalError(e.at, err))
			}
		}
		errs = append(errs, e.compile(composing, mode)...)
	}
	return errs
}

func sameText(a, b expression) bool { return a.text == b.text && a.variable == b.variable }

// compile uses composing for an expression that defines or may use variables.
func (e expression) compile(composing *plugincel.CompositedCompiler, mode environment.Type) field.ErrorList {
	var result plugincel.CompilationResult
	switch {
	case e.variable != "":
		result = composing.CompileAndStoreVariable(e, e.declared, mode)
	case e.composed && composing != nil:
		result = composing.CompileCELExpression(e, e.declared, mode)
	default:
		result = stateless().CompileCELExpression(e, e.declared, mode)
	}
	if result.Error == nil {
		return nil
	}
	switch result.Error.Type {
	case apiservercel.ErrorTypeRequired:
		return field.ErrorList{field.Required(e.at, result.Error.Detail)}
	case apiservercel.ErrorTypeInvalid:
		return field.ErrorList{field.Invalid(e.at, e.text, result.Error.Detail)}
	}
	return field.ErrorList{field.InternalError(e.at, result.Error)}
}
