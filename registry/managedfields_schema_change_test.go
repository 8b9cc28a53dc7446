package registry_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/miniapi/miniapi/kinds/typed"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// specField is a field of a spec and the types that it has in different schemas. The empty type
// means that the schema does not have the field.
type specField struct {
	name  string
	types []string
}

const (
	pairs = `{"type":"object","properties":{"name":{"type":"string"},"port":{"type":"integer","default":80},` +
		`"nested":{"type":"object","additionalProperties":{"type":"string"}}}}`
	anyObject = `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`
)

// specFields have types that accept the values of filler.custom.
var specFields = []specField{
	{"size", []string{`{"type":"integer"}`, ""}},
	{"ratio", []string{`{"type":"number"}`, `{"x-kubernetes-preserve-unknown-fields":true}`}},
	{"on", []string{`{"type":"boolean"}`, ""}},
	{"port", []string{`{"x-kubernetes-int-or-string":true}`}},
	{"free", []string{anyObject, "", `{"type":"object","x-kubernetes-preserve-unknown-fields":true,"x-kubernetes-map-type":"atomic"}`,
		`{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"x-kubernetes-preserve-unknown-fields":true}}}`}},
	{"labels", []string{`{"type":"object","additionalProperties":{"type":"string"}}`,
		`{"type":"object","x-kubernetes-map-type":"atomic","additionalProperties":{"type":"string"}}`, anyObject}},
	{"whole", []string{`{"type":"object","x-kubernetes-map-type":"atomic","additionalProperties":{"type":"integer"}}`,
		`{"type":"object","additionalProperties":{"type":"integer"}}`, `{"type":"object","properties":{"x":{"type":"integer"}}}`}},
	{"list", []string{`{"type":"array","items":{"type":"string"}}`,
		`{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}`, ""}},
	{"set", []string{`{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}`,
		`{"type":"array","x-kubernetes-list-type":"atomic","items":{"type":"string"}}`}},
	{"items", []string{
		`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name","port"],"items":` + pairs + `}`,
		`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":` + pairs + `}`,
		`{"type":"array","items":` + pairs + `}`,
		`{"type":"array","items":` + anyObject + `}`}},
}

// customSchema is one schema of a kind.
type customSchema struct {
	store *registry.Store
	// fields of the spec that the schema has. Nil: all.
	fields []string
}

// newCustomSchema returns a schema with a random type of each field.
func newCustomSchema(t *testing.T, random *rand.Rand, kind schema.GroupVersionKind) customSchema {
	t.Helper()
	var s customSchema
	var properties []string
	for _, f := range specFields {
		text := f.types[0]
		if random.IntN(2) == 0 {
			text = f.types[random.IntN(len(f.types))]
		}
		if text != "" {
			s.fields = append(s.fields, f.name)
			properties = append(properties, fmt.Sprintf("%q:%s", f.name, text))
		}
	}
	content := `{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`
	if random.IntN(8) == 0 {
		content, s.fields = anyObject, nil
	}
	var model spec.Schema
	if err := model.UnmarshalJSON([]byte(`{"type":"object","properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},
		"metadata":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"spec":` + content + `}}`)); err != nil {
		t.Fatal(err)
	}
	types, err := typed.NewCustom(map[schema.GroupVersionKind]*spec.Schema{kind: &model}, false)
	if err != nil {
		t.Fatal(err)
	}
	s.store = storeOf(t, customResource(kind, types))
	return s
}

// prune removes the fields that the schema does not have.
func (s customSchema) prune(content map[string]any) {
	delete(content, "status")
	fields, _ := content["spec"].(map[string]any)
	for name := range fields {
		if s.fields != nil && !slices.Contains(s.fields, name) {
			delete(fields, name)
		}
	}
}

// Updates and applies of an object whose schema changes in between, with managed fields from before
// the change, have the result of package managedfields.
func TestManagedFieldsAfterChangesOfTheSchemaEqualTheLibrary(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	f := &filler{Rand: rand.New(rand.NewPCG(seed, 0)), texts: plainTexts}
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Custom"}
	var schemas []customSchema
	for range 30 {
		schemas = append(schemas, newCustomSchema(t, f.Rand, kind))
	}
	var updates, applies tally
	for range 120 {
		h := &applyHistory{filler: f, kind: kind, now: time.Unix(1_000_000_000, 0).UTC()}
		current := schemas[f.IntN(len(schemas))]
		for range 8 {
			if f.IntN(2) == 0 {
				current = schemas[f.IntN(len(schemas))]
			}
			h.store = current.store
			if live, ok := h.live.(*unstructured.Unstructured); ok {
				current.prune(live.Object)
			}
			content := f.custom()
			current.prune(content)
			if f.IntN(2) == 0 {
				h.tally = applies
				h.apply(t, configurationOf(kind, content))
				applies = h.tally
			} else {
				h.tally = updates
				h.update(t, content)
				updates = h.tally
			}
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("updates %+v, applies %+v", updates, applies)
	if updates.supported < 100 || applies.supported < 40 {
		t.Errorf("most writes are not supported: updates %+v, applies %+v", updates, applies)
	}
}

func configurationOf(kind schema.GroupVersionKind, content map[string]any) *unstructured.Unstructured {
	config := &unstructured.Unstructured{Object: content}
	config.SetGroupVersionKind(kind)
	return config
}

// update checks an update, and continues with its result if it is valid.
func (h *applyHistory) update(t *testing.T, content map[string]any) {
	t.Helper()
	h.now = h.now.Add(time.Minute)
	next := &unstructured.Unstructured{Object: content}
	if h.live != nil {
		live := h.live.(*unstructured.Unstructured)
		registry.ClearKind(live)
		for name, v := range live.DeepCopy().Object["spec"].(map[string]any) {
			if fields := content["spec"].(map[string]any); h.IntN(2) == 0 {
				fields[name] = v
			}
		}
		next.SetUID("u")
		next.SetManagedFields(live.GetManagedFields())
	}
	var live runtime.Object
	if h.live != nil {
		live = h.live
	}
	if h.check(t, h.store, live, next, []string{"one", "two", "three"}[h.IntN(3)], "", h.now) {
		registrytest.Meta(next).SetUID("u")
		h.live = next
	}
}
