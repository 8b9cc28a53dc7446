package policy

import (
	"context"

	"github.com/google/cel-go/cel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/openapi"

	"github.com/miniapi/miniapi/admission/expression"
	"github.com/miniapi/miniapi/registry"
)

// typeChecks returns a check for each kind that has a schema. The checks declare the variables
// and the params of the policy.
func (p *Policies) typeChecks(ctx context.Context, catalog *registry.Catalog, kinds []schema.GroupVersionKind, spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) []typeCheck {
	var params *apiservercel.DeclType
	if spec.ParamKind != nil {
		params = typeOf(catalog, schema.FromAPIVersionAndKind(spec.ParamKind.APIVersion, spec.ParamKind.Kind), "Params")
	}
	var checks []typeCheck
	for _, kind := range kinds {
		object := typeOf(catalog, kind, "Object")
		if object == nil {
			continue
		}
		env, err := newEnvironment(object, params, spec)
		if err != nil {
			p.log.WarnContext(ctx, "policy expressions cannot be type-checked", "kind", kind, "error", err)
			continue
		}
		checks = append(checks, typeCheck{kind, env})
	}
	return checks
}

// typeOf returns the type of the objects of a kind. Its name is the kind with a suffix. The
// result is nil for a kind that is not served or has no schema.
func typeOf(catalog *registry.Catalog, kind schema.GroupVersionKind, suffix string) *apiservercel.DeclType {
	_, served, ok := catalog.Snapshot().OfKind(kind)
	if !ok {
		return nil
	}
	model, err := modelOf(served)
	if err != nil {
		return nil
	}
	declared := common.SchemaDeclType(&openapi.Schema{Schema: model}, true)
	if declared == nil {
		return nil
	}
	return declared.MaybeAssignTypeName(kind.Kind + suffix)
}

// newEnvironment returns a CEL environment with the types of the object and the params. Params of
// an unknown type are dynamic.
func newEnvironment(object, params *apiservercel.DeclType, spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) (*cel.Env, error) {
	request, namespace := plugincel.BuildRequestType(), plugincel.BuildNamespaceType()
	types := []*apiservercel.DeclType{request, namespace, object}
	variables := []cel.EnvOption{
		cel.Variable(plugincel.RequestVarName, request.CelType()),
		cel.Variable(plugincel.NamespaceVarName, namespace.CelType()),
		cel.Variable(plugincel.ObjectVarName, object.CelType()),
		cel.Variable(plugincel.OldObjectVarName, object.CelType()),
		cel.Variable(plugincel.AuthorizerVarName, library.AuthorizerType),
	}
	switch {
	case params != nil:
		types = append(types, params)
		variables = append(variables, cel.Variable(plugincel.ParamsVarName, params.CelType()))
	case spec.ParamKind != nil:
		variables = append(variables, cel.Variable(plugincel.ParamsVarName, cel.DynType))
	}
	typed, err := expression.Environment().Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: variables, DeclTypes: types,
	})
	if err != nil {
		return nil, err
	}
	composed, err := plugincel.NewCompositedCompilerForTypeChecking(typed)
	if err != nil {
		return nil, err
	}
	composed.Compiler = outputTypes{composed}
	for _, v := range spec.Variables {
		composed.CompileAndStoreVariable(variable{v.Name, v.Expression}, plugincel.OptionalVariableDeclarations{}, environment.StoredExpressions)
	}
	return composed.Env(environment.StoredExpressions)
}

// outputTypes determines the types of variables. Variables that cannot be compiled are dynamic.
type outputTypes struct{ in *plugincel.CompositedCompiler }

// CompileCELExpression implements cel.Compiler.
func (o outputTypes) CompileCELExpression(accessor plugincel.ExpressionAccessor, _ plugincel.OptionalVariableDeclarations, mode environment.Type) plugincel.CompilationResult {
	result := plugincel.CompilationResult{ExpressionAccessor: accessor}
	env, err := o.in.Env(mode)
	if err != nil {
		return result
	}
	if ast, issues := env.Compile(accessor.GetExpression()); issues.Err() == nil {
		result.OutputType = ast.OutputType()
	}
	return result
}
