package apiextensions

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
)

const rich = `{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
	"names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList","shortNames":["w"]},
	"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"a","name":"b","port":443}}}},
	"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.n","statusReplicasPath":".status.n"}},
		"selectableFields":[{"jsonPath":".spec.color"}],"additionalPrinterColumns":[{"name":"N","type":"integer","jsonPath":".spec.n"}],
		"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"spec":{"type":"object","default":{"n":1,"unknown":2},"x-kubernetes-validations":[{"rule":"self.n > 0"}],"properties":{
				"n":{"type":"integer","default":1,"minimum":0},"color":{"type":"string","format":"colour","enum":["red"],"nullable":true},
				"set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object"}},
				"items":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}},
				"embedded":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}},
			"status":{"type":"object","properties":{"n":{"type":"integer"}}}}}}},
		{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// TestValidationDoesNotModifyObjects: the internal form of a definition shares memory with it.
func TestValidationDoesNotModifyObjects(t *testing.T) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal([]byte(rich), definition); err != nil {
		t.Fatal(err)
	}
	strategy, status := definitions(feature.Default()).Strategy, validateDefinitionStatus
	for name, look := range map[string]func(obj, other runtime.Object){
		"creation":            func(obj, _ runtime.Object) { strategy.Create.Validate(t.Context(), obj) },
		"warnings":            func(obj, _ runtime.Object) { strategy.Create.Warnings(t.Context(), obj) },
		"update":              func(obj, old runtime.Object) { strategy.Update.Validate(t.Context(), obj, old) },
		"warnings of updates": func(obj, old runtime.Object) { strategy.Update.Warnings(t.Context(), obj, old) },
		"status":              func(obj, old runtime.Object) { status(t.Context(), obj, old) },
	} {
		t.Run(name, func(t *testing.T) {
			obj, old := definition.DeepCopy(), definition.DeepCopy()
			old.ResourceVersion, obj.ResourceVersion = "1", "1"
			before, beforeOld := obj.DeepCopy(), old.DeepCopy()
			look(obj, old)
			if diff := cmp.Diff(before, obj) + cmp.Diff(beforeOld, old); diff != "" {
				t.Errorf("it changed:\n%s", diff)
			}
		})
	}
}

func TestWarningsAboutIneffectiveFields(t *testing.T) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal([]byte(rich), definition); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`unrecognized format "colour"`,
		`x-kubernetes-list-type: set for items of type "object" is not supported by server-side apply or CEL validation rules`,
	}
	if diff := cmp.Diff(want, warnings(definition, nil)); diff != "" {
		t.Errorf("of a creation (-want +got):\n%s", diff)
	}
	if again := warnings(definition, definition); len(again) > 0 {
		t.Errorf("an update that changes nothing warns: %q", again)
	}
}

// The library panics on selectable fields of a schema that is not structural.
func TestSelectableFieldsOfNonStructuralSchema(t *testing.T) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal([]byte(rich), definition); err != nil {
		t.Fatal(err)
	}
	before := definition.DeepCopy()
	definition.ResourceVersion, before.ResourceVersion = "1", "1"
	ref := "#/definitions/color"
	definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = apiextensionsv1.JSONSchemaProps{Ref: &ref}
	kept := definition.DeepCopy()
	strategy := definitions(feature.Default()).Strategy
	for name, errs := range map[string]field.ErrorList{
		"creation": strategy.Create.Validate(t.Context(), definition),
		"update":   strategy.Update.Validate(t.Context(), definition, before),
	} {
		if text := errs.ToAggregate(); text == nil || !strings.Contains(text.Error(), "$ref: Forbidden: $ref is not supported") {
			t.Errorf("%s: got %v", name, text)
		}
	}
	if diff := cmp.Diff(kept, definition); diff != "" {
		t.Errorf("it changed:\n%s", diff)
	}
}
