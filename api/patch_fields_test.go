package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// storedObject is a recorded object and a call for it.
type storedObject struct {
	call *call
	hub  runtime.Object
}

// storedObjects returns the objects that a kube-apiserver has stored, once in each served version.
func storedObjects(tb testing.TB) map[string]storedObject {
	data, err := os.ReadFile("../kinds/testdata/values.json")
	if err != nil {
		tb.Fatal(err)
	}
	var values map[string][]byte
	if err := json.Unmarshal(data, &values); err != nil {
		tb.Fatal(err)
	}
	server := &Server{
		config:    Config{Catalog: registry.NewCatalog(registry.CatalogConfig{Clock: stoppedClock{}})},
		responder: encoding.NewResponder(encoding.Config{Scheme: kinds.Scheme()}),
	}
	objects := map[string]storedObject{}
	for _, r := range kinds.Resources(feature.Default()) {
		for key, value := range values {
			if r.Virtual != nil || !strings.HasPrefix(key, "/registry/"+r.StoragePath+"/") {
				continue
			}
			hub, err := r.Codec.Decode(value)
			if err != nil {
				tb.Fatal(err)
			}
			for _, v := range r.Versions {
				c := &call{server: server, r: httptest.NewRequest("PATCH", "/", nil), resource: r, version: v}
				objects[key+" "+v.Name] = storedObject{c, hub}
			}
		}
	}
	return objects
}

// stoppedClock has the same time always, so that defaults are equal.
type stoppedClock struct{}

func (stoppedClock) Now() time.Time { return time.Unix(1_800_000_000, 0) }
func (stoppedClock) Real() bool     { return false }

func wholeObject(*patch, runtime.Object) *fieldsPatch { return nil }

// A patch of the touched fields has the result, the error and the stored bytes of a patch of the
// whole object.
func TestPatchOfFieldsEqualsPatchOfObject(t *testing.T) {
	const rounds = 40
	random := randomPatches{rand.New(rand.NewPCG(1, 2))}
	tests := map[string]struct {
		apply  patchFunc
		fields fieldsFunc
		make   func(document map[string]any) any
	}{
		"JSON":      {(*patch).applyJSON, (*patch).fieldsOfJSON, func(d map[string]any) any { return random.operations(d) }},
		"merge":     {(*patch).applyMerge, (*patch).fieldsOfMerge, func(d map[string]any) any { return random.object(d, false) }},
		"strategic": {(*patch).applyStrategic, (*patch).fieldsOfStrategic, func(d map[string]any) any { return random.object(d, true) }},
	}
	objects := storedObjects(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			reduced, failed := 0, 0
			for _, key := range slices.Sorted(maps.Keys(objects)) {
				o := objects[key]
				document := documentOf(t, o)
				for range rounds {
					data, err := json.Marshal(test.make(document))
					if err != nil {
						t.Fatal(err)
					}
					p := &patch{call: o.call, data: data, options: writeOptions{fieldValidation: random.validation()}}
					before := encoded(t, o, o.hub)
					got, gotErr := proposePatched(test.apply, test.fields)(p, t.Context(), o.hub)
					want, wantErr := proposePatched(test.apply, wholeObject)(p, t.Context(), o.hub)
					if (gotErr == nil) != (wantErr == nil) { // the texts depend on the order of maps
						t.Fatalf("%s: %s:\ngot error  %v\nwant error %v", key, data, gotErr, wantErr)
					}
					if encoded(t, o, o.hub) != before {
						t.Fatalf("%s: %s changed the current object", key, data)
					}
					if wantErr != nil {
						failed++
						continue
					}
					if a, b := encoded(t, o, got), encoded(t, o, want); a != b {
						t.Fatalf("%s: %s:\ngot  %s\nwant %s", key, data, a, b)
					}
					converted, _ := o.call.fromHub(o.hub)
					if _, ok := p.applyToFields(test.fields, converted); ok {
						reduced++
					}
				}
			}
			if total := rounds * len(objects); reduced < total/6 || failed < total/8 {
				t.Errorf("of %d patches %d were applied to fields and %d failed", total, reduced, failed)
			}
		})
	}
}

// documentOf returns an object as a client gets it.
func documentOf(t *testing.T, o storedObject) map[string]any {
	t.Helper()
	converted, err := o.call.fromHub(o.hub)
	if err != nil {
		t.Fatal(err)
	}
	data, err := encoding.JSON(o.call.header(), converted)
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// encoded returns the stored bytes and the JSON of an object of the hub version.
func encoded(t *testing.T, o storedObject, obj runtime.Object) string {
	t.Helper()
	stored, err := o.call.resource.Codec.Encode(obj)
	shown, jsonErr := json.Marshal(obj)
	if err := errors.Join(err, jsonErr); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %q", shown, stored)
}

// randomPatches makes patches of documents.
type randomPatches struct{ *rand.Rand }

func (r randomPatches) validation() string {
	return []string{metav1.FieldValidationIgnore, metav1.FieldValidationWarn, metav1.FieldValidationStrict}[r.IntN(3)]
}

const deletionPrefix = "$deleteFromPrimitiveList/"

// object returns a merge patch of some fields of a document.
func (r randomPatches) object(document map[string]any, directives bool) map[string]any {
	patch := map[string]any{}
	names := slices.Sorted(maps.Keys(document))
	for range 1 + r.IntN(2) {
		if len(names) == 0 {
			break
		}
		name := names[r.IntN(len(names))]
		if _, deletes := patch[deletionPrefix+name]; deletes {
			continue // the order of both is undefined
		}
		switch value := document[name].(type) {
		case map[string]any:
			patch[name] = r.object(value, directives)
		case []any:
			patch[name] = r.list(value, directives)
			if directives && r.IntN(4) == 0 {
				patch["$setElementOrder/"+name] = value
			}
			if directives && r.IntN(8) == 0 {
				delete(patch, name)
				patch[deletionPrefix+name] = value
				continue
			}
		default:
			patch[name] = r.value(value)
		}
		if r.IntN(16) == 0 {
			patch[name] = r.value(document[name])
		}
	}
	switch {
	case r.IntN(32) == 0:
		patch["added"] = r.value("x")
	case directives && r.IntN(32) == 0:
		patch["$patch"] = []any{"replace", "delete", "merge"}[r.IntN(3)]
	case directives && r.IntN(32) == 0:
		patch["$retainKeys"] = slices.Sorted(maps.Keys(patch))
	}
	return patch
}

// list returns some items, changed, of a list.
func (r randomPatches) list(items []any, directives bool) []any {
	patch := []any{}
	items = slices.Clone(items)
	if r.IntN(8) == 0 {
		r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	}
	for _, item := range items {
		members, isObject := item.(map[string]any)
		if isObject && r.IntN(3) == 0 {
			continue
		}
		if r.IntN(2) == 0 || !isObject {
			patch = append(patch, item)
			continue
		}
		changed := r.object(members, directives)
		for _, key := range []string{"name", "type", "containerPort", "port", "ip", "uid", "mountPath", "topologyKey"} {
			if value, ok := members[key]; ok && r.IntN(8) > 0 {
				changed[key] = value
			}
		}
		patch = append(patch, changed)
	}
	return patch
}

// value returns a value to replace another one.
func (r randomPatches) value(old any) any {
	values := []any{nil, nil, "text", 7, 1.5, true, map[string]any{}, []any{}, map[string]any{"a": nil}, []any{nil}}
	switch text, isText := old.(string); {
	case r.IntN(4) == 0:
	case isText:
		return text + "x"
	default:
		return old
	}
	return values[r.IntN(len(values))]
}

// operations returns a JSON patch.
func (r randomPatches) operations(document map[string]any) []any {
	var patch []any
	for range 1 + r.IntN(2) {
		path, old := r.path(document)
		operation := map[string]any{"op": []any{"add", "replace", "replace", "remove", "test", "test", "move", "copy"}[r.IntN(8)], "path": path}
		switch operation["op"] {
		case "test":
			operation["value"] = old
		case "move", "copy":
			operation["from"], _ = r.path(document)
		default:
			operation["value"] = r.value(old)
		}
		if r.IntN(20) == 0 {
			operation["added"] = true
		}
		patch = append(patch, operation)
	}
	return patch
}

// path returns a JSON pointer and its value.
func (r randomPatches) path(document any) (string, any) {
	switch value := document.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(value))
		if len(names) == 0 || r.IntN(24) == 0 {
			return "/added", "x"
		}
		name := names[r.IntN(len(names))]
		token := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		if r.IntN(6) == 0 {
			return token, value[name]
		}
		rest, old := r.path(value[name])
		return token + rest, old
	case []any:
		if len(value) == 0 || r.IntN(8) == 0 {
			return []string{"/-", "/0", "/7", "/-1"}[r.IntN(4)], "x"
		}
		i := r.IntN(len(value))
		rest, old := r.path(value[i])
		return fmt.Sprintf("/%d%s", i, rest), old
	}
	return "", document
}

// BenchmarkPatch measures a patch of the touched fields and of the whole object, without a store.
func BenchmarkPatch(b *testing.B) {
	patches := map[string]struct {
		apply  patchFunc
		fields fieldsFunc
		data   string
	}{
		"JSON":      {(*patch).applyJSON, (*patch).fieldsOfJSON, `[{"op":"add","path":"/metadata/labels","value":{"a":"1"}}]`},
		"merge":     {(*patch).applyMerge, (*patch).fieldsOfMerge, `{"metadata":{"labels":{"a":"1"}}}`},
		"strategic": {(*patch).applyStrategic, (*patch).fieldsOfStrategic, `{"metadata":{"labels":{"a":"1"}}}`},
	}
	o := storedObjects(b)["/registry/deployments/demo/m v1"]
	for name, test := range patches {
		p := &patch{call: o.call, data: []byte(test.data), options: writeOptions{fieldValidation: metav1.FieldValidationStrict}}
		for of, fields := range map[string]fieldsFunc{"fields": test.fields, "object": wholeObject} {
			b.Run(name+"/"+of, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := proposePatched(test.apply, fields)(p, b.Context(), o.hub); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
