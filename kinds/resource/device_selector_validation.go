package resource

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/ext"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// validateSelectors compiles the CEL expressions of selectors. mode distinguishes new and stored
// expressions.
func validateSelectors(list []resourcev1.DeviceSelector, mode environment.Type, at *field.Path) field.ErrorList {
	return each(list, resourcev1.DeviceSelectorsMaxSize, at, func(s resourcev1.DeviceSelector, at *field.Path) field.ErrorList {
		if s.CEL == nil {
			return field.ErrorList{field.Required(at.Child("cel"), "")}
		}
		return validateExpression(s.CEL.Expression, mode, at.Child("cel", "expression"))
	})
}

func validateExpression(expression string, mode environment.Type, at *field.Path) field.ErrorList {
	if len(expression) > resourcev1.CELSelectorExpressionMaxLength {
		return field.ErrorList{field.TooLong(at, "", resourcev1.CELSelectorExpressionMaxLength)}
	}
	env, err := devices().env.Env(mode)
	if err != nil {
		return field.ErrorList{field.InternalError(at, err)}
	}
	ast, issues := env.Compile(expression)
	if issues != nil {
		return field.ErrorList{field.Invalid(at, expression, "compilation failed: "+issues.String())}
	}
	if t := ast.OutputType(); t != cel.BoolType && t != cel.AnyType {
		return field.ErrorList{field.Invalid(at, expression, "must evaluate to bool or the unknown type, not "+t.String())}
	}
	cost, err := env.EstimateCost(ast, &library.CostEstimator{SizeEstimator: deviceSizes{devices().device}})
	if err != nil {
		return field.ErrorList{field.InternalError(at, err)}
	}
	if cost.Max > resourcev1.CELSelectorExpressionMaxCost {
		return field.ErrorList{field.Forbidden(at, "too complex, exceeds cost limit")}
	}
	return nil
}

// deviceEnvironment is the CEL environment of the expressions.
type deviceEnvironment struct {
	env    *environment.EnvSet
	device *apiservercel.DeclType
}

// devices is created for the first expression, since that takes a few milliseconds.
var devices = sync.OnceValue(func() deviceEnvironment {
	device := deviceType()
	env, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 34),
		EnvOptions:        []cel.EnvOption{ext.Bindings(ext.BindingsVersion(0)), cel.Variable("device", device.CelType())},
		DeclTypes:         []*apiservercel.DeclType{device},
	})
	if err != nil {
		panic("resource: the environment of selectors: " + err.Error())
	}
	return deviceEnvironment{env, device}
})

// deviceType returns the type of a device with the maximum sizes of its parts, for cost estimates.
func deviceType() *apiservercel.DeclType {
	text := func(longest int) *apiservercel.DeclType { return sized(apiservercel.StringType, longest) }
	byName := func(value *apiservercel.DeclType) *apiservercel.DeclType {
		const most = resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice
		names := apiservercel.NewMapType(text(resourcev1.DeviceMaxIDLength), value, most)
		return apiservercel.NewMapType(text(resourcev1.DeviceMaxDomainLength), names, most)
	}
	fields := map[string]*apiservercel.DeclField{}
	add := func(name string, of *apiservercel.DeclType) {
		fields[name] = apiservercel.NewDeclField(name, of, true, nil, nil)
	}
	add("driver", text(resourcev1.DriverNameMaxLength))
	add("allowMultipleAllocations", sized(apiservercel.BoolType, 1))
	add("attributes", byName(sized(apiservercel.AnyType, resourcev1.DeviceAttributeMaxValueLength)))
	add("capacity", byName(apiservercel.QuantityDeclType))
	return apiservercel.NewObjectType("kubernetes.DRADevice", fields)
}

func sized(t *apiservercel.DeclType, most int) *apiservercel.DeclType {
	result := *t
	result.MaxElements = int64(most)
	return &result
}

// deviceSizes estimates the sizes of the values in an expression.
type deviceSizes struct{ device *apiservercel.DeclType }

func (s deviceSizes) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	path := element.Path()
	if len(path) == 0 || path[0] != "device" {
		return nil
	}
	node := s.device
	for _, name := range path[1:] {
		switch name {
		case "@items", "@values":
			node = node.ElemType
		case "@keys":
			node = node.KeyType
		default:
			node = member(node, name)
		}
		if node == nil {
			return nil
		}
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(max(node.MaxElements, 0))}
}

// member returns the type of a field, or of an attribute: all attributes have the same type.
func member(node *apiservercel.DeclType, name string) *apiservercel.DeclType {
	if f, ok := node.Fields[name]; ok {
		return f.Type
	}
	if e := node.ElemType; e != nil && e.MaxElements == resourcev1.DeviceAttributeMaxValueLength {
		return e
	}
	return nil
}

// EstimateCallCost returns no estimate, so that the library estimates calls.
func (s deviceSizes) EstimateCallCost(_, _ string, _ *checker.AstNode, _ []checker.AstNode) *checker.CallEstimate {
	return nil
}
