package registry_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/typed"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// customResource returns a resource with unstructured objects of a kind.
func customResource(kind schema.GroupVersionKind, types managedfields.TypeConverter) *registry.Resource {
	return &registry.Resource{
		Group: kind.Group, Name: "customs", Kind: kind.Kind, Custom: true, StoragePath: "customs",
		Types: func() (managedfields.TypeConverter, error) { return types, nil },
		Versions: []registry.Version{{Name: kind.Version, New: func() runtime.Object {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(kind)
			return u
		}}},
	}
}

// unstructuredHistory checks a create and updates of unstructured objects.
func (n *tally) unstructuredHistory(t *testing.T, f *filler, r *registry.Resource, newContent func(before map[string]any) map[string]any) {
	t.Helper()
	store := storeOf(t, r)
	var live runtime.Object
	for i := range 5 {
		var before map[string]any
		if live != nil {
			before = live.DeepCopyObject().(*unstructured.Unstructured).Object
		}
		next := &unstructured.Unstructured{Object: newContent(before)}
		registry.ClearKind(next)
		if live != nil {
			live.(*unstructured.Unstructured).SetUID("u")
			next.SetManagedFields(registrytest.Meta(live).GetManagedFields())
		}
		at := time.Unix(1_000_000_000+int64(i)*60, 0).UTC()
		if !n.check(t, store, live, next, []string{"one", "two"}[f.IntN(2)], []string{"", "", "status"}[f.IntN(3)], at) || t.Failed() {
			return
		}
		live = next
	}
}

// spoil replaces random values by values that may be invalid.
func (f *filler) spoil(content map[string]any) {
	for name, v := range content {
		if f.IntN(200) == 0 {
			content[name] = []any{nil, "a", int64(1), 1.0, true, map[string]any{}, []any{}}[f.IntN(7)]
		} else if inner, ok := v.(map[string]any); ok {
			f.spoil(inner)
		}
	}
}

// The merge rules of built-in kinds serve to check many types of unstructured objects.
func TestManagedFieldsOfUnstructuredObjectsEqualTheLibrary(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	f := &filler{Rand: rand.New(rand.NewPCG(seed, 0)), texts: plainTexts}
	var n tally
	for _, r := range kinds.Resources(feature.Default()) {
		if r.Virtual != nil || r.Versions[0].FromHub != nil {
			continue
		}
		kind := schema.GroupVersionKind{Group: r.Group, Version: r.Versions[0].Name, Kind: r.Kind}
		custom := customResource(kind, kinds.Types())
		for range 4 {
			obj := r.Versions[0].New()
			f.change = 0.4
			n.unstructuredHistory(t, f, custom, func(map[string]any) map[string]any {
				f.fill(reflect.ValueOf(obj).Elem(), 7)
				f.change = 0.02
				content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
				if err != nil {
					t.Fatal(err)
				}
				delete(content["metadata"].(map[string]any), "managedFields")
				if spec, ok := content["spec"].(map[string]any); ok {
					f.spoil(spec)
				}
				return content
			})
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%+v", n)
}

// newCustomTypes returns the merge rules of a kind with each type of list and map.
func newCustomTypes(t *testing.T, kind schema.GroupVersionKind) managedfields.TypeConverter {
	t.Helper()
	var model spec.Schema
	if err := model.UnmarshalJSON([]byte(`{"type":"object","properties":{
		"apiVersion":{"type":"string"},"kind":{"type":"string"},
		"metadata":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
		"spec":{"type":"object","properties":{
			"size":{"type":"integer"},"ratio":{"type":"number"},"on":{"type":"boolean"},
			"port":{"x-kubernetes-int-or-string":true},
			"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
			"labels":{"type":"object","additionalProperties":{"type":"string"}},
			"whole":{"type":"object","x-kubernetes-map-type":"atomic","additionalProperties":{"type":"integer"}},
			"list":{"type":"array","items":{"type":"string"}},
			"set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
			"items":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name","port"],"items":{
				"type":"object","properties":{"name":{"type":"string"},"port":{"type":"integer","default":80},
					"nested":{"type":"object","additionalProperties":{"type":"string"}}}}}}}}}`)); err != nil {
		t.Fatal(err)
	}
	types, err := typed.NewCustom(map[schema.GroupVersionKind]*spec.Schema{kind: &model}, false)
	if err != nil {
		t.Fatal(err)
	}
	return types
}

// any returns a random value.
func (f *filler) any(depth int) any {
	switch f.IntN(8) {
	case 0:
		return nil
	case 1:
		return f.texts[f.IntN(len(f.texts))]
	case 2:
		return int64(f.IntN(3))
	case 3:
		return float64(f.IntN(3)) / 2
	case 4:
		return f.IntN(2) == 0
	case 5:
		list := []any{}
		for range f.IntN(3) * min(depth, 1) {
			list = append(list, f.any(depth-1))
		}
		return list
	}
	fields := map[string]any{}
	for range f.IntN(4) * min(depth, 1) {
		fields[f.texts[f.IntN(len(f.texts))]] = f.any(depth - 1)
	}
	return fields
}

// custom returns random fields for the kind of newCustomTypes.
func (f *filler) custom() map[string]any {
	text := func() any { return f.texts[f.IntN(len(f.texts))] }
	object := map[string]any{"name": "a"}
	candidates := map[string]func() any{
		"size": func() any { return int64(f.IntN(3)) }, "ratio": func() any { return float64(f.IntN(4)) / 2 },
		"on": func() any { return f.IntN(2) == 0 }, "port": func() any { return []any{int64(1), "a"}[f.IntN(2)] },
		"free":   func() any { return map[string]any{"a": f.any(3), "b": f.any(3)} },
		"labels": func() any { return map[string]any{f.texts[f.IntN(3)]: text(), "x": text()} },
		"whole":  func() any { return map[string]any{"x": int64(f.IntN(2))} },
		"list":   func() any { return []any{text(), text()} },
		"set":    func() any { return []any{text(), text()} },
		"items": func() any {
			with := map[string]any{"name": text(), "port": int64(f.IntN(3)), "nested": map[string]any{"a": text()}}
			return []any{with, map[string]any{"name": text()}}
		},
	}
	content := map[string]any{}
	for name, value := range candidates {
		switch f.IntN(8) {
		case 0:
			content[name] = nil
		case 1, 2, 3, 4:
			content[name] = value()
		}
	}
	return map[string]any{"metadata": object, "spec": content, "status": f.any(1)}
}

func TestManagedFieldsOfCustomResourcesEqualTheLibrary(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	f := &filler{Rand: rand.New(rand.NewPCG(seed, 0)), texts: plainTexts}
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Custom"}
	r := customResource(kind, newCustomTypes(t, kind))
	var n tally
	for range 500 {
		n.unstructuredHistory(t, f, r, func(before map[string]any) map[string]any {
			content := f.custom()
			if f.IntN(8) > 0 {
				delete(content, "status") // not in the schema
			}
			if before != nil && f.IntN(3) > 0 {
				for name, v := range before["spec"].(map[string]any) {
					if f.IntN(3) > 0 {
						content["spec"].(map[string]any)[name] = v
					}
				}
			}
			return content
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%+v", n)
	if n.supported < n.unsupported {
		t.Errorf("most objects are not supported: %+v", n)
	}
}
