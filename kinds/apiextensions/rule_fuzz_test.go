package apiextensions

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/miniapi/miniapi/kinds/feature"
)

// The validation of a definition checks any CEL rule.
func FuzzRule(f *testing.F) {
	for _, seed := range [][2]string{
		{"self.n > 0", "'n is ' + string(self.n)"}, {"self.n >= oldSelf.n", ""}, {"self.list.all(x, self.list.all(y, x == y))", "self"},
		{"self.?n.orValue(1) == 1", "["}, {"quantity('1Ki').isLessThan(quantity(self.s))", "self.s"}, {"self.s.matches('(')", "1"}, {"'", "'"},
	} {
		f.Add(seed[0], seed[1])
	}
	validate := definitions(feature.Default()).Strategy.Create.Validate
	f.Fuzz(func(t *testing.T, rule, message string) {
		schema := &apiextensionsv1.JSONSchemaProps{
			Type: "object",
			Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"n": {Type: "integer"}, "s": {Type: "string"},
				"list": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}},
			},
			XValidations: apiextensionsv1.ValidationRules{{Rule: rule, MessageExpression: message}},
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		definition.Name = "widgets.example.com"
		definition.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema}}},
		}
		validate(t.Context(), definition)
	})
}
