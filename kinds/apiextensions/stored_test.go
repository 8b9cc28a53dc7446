package apiextensions

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const small = `{openAPIV3Schema: {type: object, properties: {a: {type: string}}}}`

// The encoding without a conversion of the schemas equals that of the conversion, and decodes to
// the same definition.
func TestSchemasNeedNoConversion(t *testing.T) {
	for name, versions := range map[string]string{
		"one version":                  `[{name: v1, served: true, storage: true, schema: ` + small + `}]`,
		"no schema":                    `[{name: v1, served: true, storage: true}]`,
		"an empty schema":              `[{name: v1, served: true, storage: true, schema: {}}]`,
		"no version":                   `[]`,
		"equal schemas":                `[{name: v1, schema: ` + small + `}, {name: v2, schema: ` + small + `}]`,
		"different schemas":            `[{name: v1, schema: ` + small + `}, {name: v2, schema: {openAPIV3Schema: {type: object}}}, {name: v3, schema: ` + small + `}]`,
		"one version without a schema": `[{name: v1, schema: ` + small + `}, {name: v2}]`,
		"other fields that versions share": `[{name: v1, subresources: {status: {}}, additionalPrinterColumns: [{name: a, type: string, jsonPath: .a}], selectableFields: [{jsonPath: .a}]},
			{name: v2, deprecated: true, deprecationWarning: old, subresources: {status: {}}, additionalPrinterColumns: [{name: a, type: string, jsonPath: .a}], selectableFields: [{jsonPath: .a}]}]`,
		"all forms of schemas": `[{name: v1, schema: {openAPIV3Schema: {type: object, description: "<&>", x-kubernetes-preserve-unknown-fields: true, nullable: true,
			properties: {a: {type: array, items: {type: string, enum: [a, "<"]}, x-kubernetes-list-type: set}, b: {items: [{type: integer, maximum: 1.5}]}, c: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]},
				d: {additionalProperties: false}, e: {additionalProperties: {type: string, default: a}}, f: {not: {type: string}, example: {a: [1, 1.5, null]}}, g: {dependencies: {a: [b], c: {type: string}}},
				h: {x-kubernetes-validations: [{rule: "self == oldSelf", optionalOldSelf: true, reason: FieldValueForbidden, fieldPath: .a}]}}}}}]`,
		"keys out of order":          `[{name: v1, schema: {openAPIV3Schema: {type: object, properties: {a: {type: object, default: {b: 1, a: 2}}}}}}]`,
		"numbers in other notations": `[{name: v1, schema: {openAPIV3Schema: {type: object, properties: {a: {type: number, enum: [1.50, 1e3]}}}}}]`,
		"a webhook":                  `[{name: v1}], conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://example.com/", caBundle: YQ==}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			definition := &apiextensionsv1.CustomResourceDefinition{}
			body := `{metadata: {name: as.example.com, managedFields: [{manager: m, fieldsV1: {"f:spec": {}}}]}, spec: {group: example.com, scope: Cluster, names: {plural: as, kind: A}, preserveUnknownFields: false, versions: ` + versions + `}}`
			if err := yaml.Unmarshal([]byte(body), definition); err != nil {
				t.Fatal(err)
			}
			old := &apiextensionsv1beta1.CustomResourceDefinition{}
			if err := convert(definition, old); err != nil {
				t.Fatal(err)
			}
			old.SetGroupVersionKind(atRest().Kind)
			want, err := json.Marshal(old)
			if err != nil {
				t.Fatal(err)
			}
			before := definition.DeepCopy()
			got, err := codec{}.Encode(definition)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want)+"\n", string(got)); diff != "" {
				t.Errorf("at rest (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, definition); diff != "" {
				t.Errorf("Encode changed its argument:\n%s", diff)
			}
			decoded, err := atRest().Decode(want)
			if err != nil {
				t.Fatal(err)
			}
			converted := &apiextensionsv1.CustomResourceDefinition{}
			if err := convert(decoded, converted); err != nil {
				t.Fatal(err)
			}
			read, err := codec{}.Decode(got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(runtime.Object(converted), read); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}
