package openapi_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/miniapi/miniapi/api/openapi"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// custom returns a custom resource with the fields that documents use.
func custom(group, version, kind string) *registry.Resource {
	return &registry.Resource{
		Group: group, Name: strings.ToLower(kind) + "s", Kind: kind, Custom: true,
		Versions: []registry.Version{{
			Name: version,
			Model: func(bool) (*spec.Schema, error) {
				return new(spec.Schema).Typed("object", "").WithDescription(kind + " of " + group), nil
			},
		}},
	}
}

// patchTypes are the patch types of kube-apiserver.
var patchTypes = []openapi.PatchType{
	{ContentType: "application/json-patch+json"},
	{ContentType: "application/merge-patch+json"},
	{ContentType: "application/strategic-merge-patch+json", BuiltInOnly: true},
	{ContentType: "application/apply-patch+yaml"},
}

// newDocuments returns the documents of all built-in kinds and of custom resources.
func newDocuments(t testing.TB, resources ...*registry.Resource) *openapi.Documents {
	t.Helper()
	catalog := registry.NewCatalog(registry.CatalogConfig{
		Storage: func(storage.Codec) storage.Interface { return nil },
	})
	resources = append(slices.Clone(kinds.Resources(feature.At(36))), resources...)
	if err := catalog.Add(resources...); err != nil {
		t.Fatal(err)
	}
	return openapi.New(openapi.Config{
		Groups: catalog.Snapshot().Groups, Resources: resources,
		Scheme: kinds.Scheme(), Release: "1.36", OpenID: true, PatchTypes: patchTypes,
	})
}

// must returns a function that returns the value of a result, or fails the test on an error.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// The names of models and operations are derived from the group.
func TestNamesOfCustomGroups(t *testing.T) {
	for group, want := range map[string][2]string{
		"example.com":         {"com.example.v1.Glass", "createExampleComV1Glass"},
		"my-shop.example.com": {"com.example.my-shop.v1.Glass", "createMyShopExampleComV1Glass"},
		"things.k8s.io":       {"io.k8s.things.v1.Glass", "createThingsV1Glass"},
	} {
		d, err := newDocuments(t, custom(group, "v1", "Glass")).V3("apis/" + group + "/v1")
		got := parse(t, d, err)
		if got.Components.Schemas[want[0]] == nil || got.Components.Schemas[want[0]+"List"] == nil {
			t.Errorf("%s: no schema of %s or of its list", group, want[0])
		}
		create, _ := got.Paths["/apis/"+group+"/v1/glasss"].(map[string]any)["post"].(map[string]any)
		if create["operationId"] != want[1] {
			t.Errorf("%s: the operation is %v, want %s", group, create["operationId"], want[1])
		}
	}
}

// A change of the catalog rebuilds only the documents that it affects, and changes their hashes.
func TestUnchangedPartsAreShared(t *testing.T) {
	a, b, c := custom("a.example.com", "v1", "A"), custom("b.example.com", "v1", "B"), custom("b.example.com", "v1", "C")
	before, after := newDocuments(t, a, b), newDocuments(t, a, b, c)
	v3 := func(d *openapi.Documents, path string) *openapi.Document {
		return must[*openapi.Document](t)(d.V3(path))
	}
	for _, path := range []string{"api/v1", "apis", "apis/apps/v1", "apis/a.example.com/v1"} {
		if v3(before, path) != v3(after, path) {
			t.Errorf("%s is rebuilt", path)
		}
	}
	if v3(before, "apis/b.example.com/v1").Hash == v3(after, "apis/b.example.com/v1").Hash {
		t.Error("the hash of a group version with another resource is unchanged")
	}
	same := newDocuments(t, b, a)
	if v2 := must[*openapi.Document](t); v2(before.V2()).Hash == v2(after.V2()).Hash || v2(before.V2()).Hash != v2(same.V2()).Hash {
		t.Error("the hash of version 2 does not depend on the content alone")
	}
	if index := must[[]byte](t); bytes.Equal(index(before.Index()), index(after.Index())) || !bytes.Equal(index(before.Index()), index(same.Index())) {
		t.Error("the index does not depend on the content alone")
	}
}

// A custom group has documents for its versions only.
func TestCustomGroupHasNoDocument(t *testing.T) {
	documents := newDocuments(t, custom("example.com", "v1", "A"))
	for _, path := range []string{"apis/example.com", "apis/example.com/v2"} {
		if d, err := documents.V3(path); d != nil || err != nil {
			t.Errorf("%s: %v, %v", path, d, err)
		}
	}
}

// Shared parameters have the names of kube-apiserver. kubectl searches the operations for
// fieldValidation and dryRun, so these are not shared.
func TestSharedParametersOfV2(t *testing.T) {
	d, err := newDocuments(t, custom("example.com", "v1", "A")).V2()
	var got struct {
		Parameters map[string]any
		Paths      map[string]map[string]json.RawMessage
	}
	if err != nil || json.Unmarshal(d.JSON(), &got) != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"allowWatchBookmarks-HC2hJt-J", "body-2Y1dVQaQ", "fieldSelector-xIcQKXFG", "namespace-vgWSWtn3", "path-z6Ciiujn", "pretty-tJGM1-ng",
	} {
		if got.Parameters[name] == nil {
			t.Errorf("no parameter %s in %v", name, slices.Sorted(maps.Keys(got.Parameters)))
		}
	}
	for _, path := range []string{"/api/v1/namespaces/{namespace}/pods/{name}", "/apis/example.com/v1/as/{name}"} {
		patch := string(got.Paths[path]["patch"])
		if !strings.Contains(patch, `"name":"fieldValidation"`) || !strings.Contains(patch, `"name":"dryRun"`) {
			t.Errorf("%s: %s", path, patch)
		}
	}
}

// The concatenated protobuf of version 2 equals the protobuf of the whole document.
func TestV2ProtobufEqualsJSON(t *testing.T) {
	r := custom("example.com", "v1", "A")
	r.Versions[0].Model = func(bool) (*spec.Schema, error) { return detailedSchema(), nil }
	d, err := newDocuments(t, r, custom("b.example.com", "v1", "B")).V2()
	if err != nil {
		t.Fatal(err)
	}
	want := must[*openapi_v2.Document](t)(openapi_v2.ParseDocument(d.JSON()))
	got := &openapi_v2.Document{}
	if err := proto.Unmarshal(must[[]byte](t)(d.Protobuf()), got); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*openapi_v2.Document{want, got} {
		byName(m.Paths.Path)
		byName(m.Definitions.AdditionalProperties)
		byName(m.Parameters.AdditionalProperties)
	}
	if !proto.Equal(want, got) {
		t.Errorf("%d paths, %d definitions and %d parameters differ from the JSON",
			len(got.Paths.Path), len(got.Definitions.AdditionalProperties), len(got.Parameters.AdditionalProperties))
	}
}

// The protobuf of version 3 equals the protobuf that gnostic makes of the JSON.
func TestV3ProtobufEqualsJSON(t *testing.T) {
	r := custom("example.com", "v1", "A")
	r.Versions[0].Model = func(bool) (*spec.Schema, error) { return detailedSchema(), nil }
	documents := newDocuments(t, r)
	for _, path := range []string{"api/v1", "apis", "apis/apps/v1", "apis/apiextensions.k8s.io/v1", "apis/example.com/v1", "version"} {
		d := must[*openapi.Document](t)(documents.V3(path))
		message := must[*openapi_v3.Document](t)(openapi_v3.ParseDocument(d.JSON()))
		want := must[[]byte](t)(proto.Marshal(message))
		if got := must[[]byte](t)(d.Protobuf()); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes differ from the JSON's %d bytes", path, len(got), len(want))
		}
	}
}

// detailedSchema returns a schema with values of all JSON types.
func detailedSchema() *spec.Schema {
	schema := new(spec.Schema).Typed("object", "").WithDescription("one: \"two\" # three\n\n- 4 \u003c 5 \u00e9")
	ratio := spec.Float64Property().WithMinimum(0.25, false).WithMaximum(1e6, true).WithMultipleOf(0.5)
	schema.SetProperty("ratio", *ratio.WithDefault(1.5))
	schema.SetProperty("name", *spec.StringProperty().WithMaxLength(63).WithPattern(`^[a-z]"\d+'$`).WithEnum("true", "1", "a: b", "", "null").WithDefault("yes"))
	schema.SetProperty("list", *spec.ArrayProperty(spec.MapProperty(spec.Int64Property())).WithDefault([]any{map[string]any{"a": 1}, map[string]any{}}))
	schema.AddExtension("x-kubernetes-list-map-keys", []any{"name", "1", "true"})
	schema.AddExtension("x-kubernetes-validations", []any{map[string]any{"rule": `self.ratio < 1.0 && self.name != "x"`, "message": "multiple\nlines", "optional": nil}})
	schema.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	return schema
}

func byName[T interface{ GetName() string }](list []T) {
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(a.GetName(), b.GetName()) })
}

func TestOpenIDDocuments(t *testing.T) {
	documents := newDocuments(t)
	for path, want := range map[string]string{
		".well-known/openid-configuration": "getServiceAccountIssuerOpenIDConfiguration",
		"openid/v1/jwks":                   "getServiceAccountIssuerOpenIDKeyset",
	} {
		d, err := documents.V3(path)
		get, _ := parse(t, d, err).Paths["/"+path+"/"].(map[string]any)["get"].(map[string]any)
		if get["operationId"] != want {
			t.Errorf("%s: the operation is %v, want %s", path, get["operationId"], want)
		}
	}
}
