package registry_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// applyHistory checks applies and updates of an object by several managers.
type applyHistory struct {
	tally
	*filler
	store *registry.Store
	kind  schema.GroupVersionKind
	live  runtime.Object
	now   time.Time
}

// configuration returns an unstructured object, with values that Go objects leave out.
func (h *applyHistory) configuration(t *testing.T, obj runtime.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	delete(content["metadata"].(map[string]any), "managedFields")
	h.zero(content)
	config := &unstructured.Unstructured{Object: content}
	config.SetGroupVersionKind(h.kind)
	return config
}

// zero replaces some values by empty ones.
func (h *applyHistory) zero(content map[string]any) {
	for name, v := range content {
		switch v := v.(type) {
		case map[string]any:
			if h.zero(v); h.IntN(40) == 0 {
				content[name] = []any{nil, map[string]any{}}[h.IntN(2)]
			}
		case []any:
			if h.IntN(40) == 0 {
				content[name] = []any{nil, []any{}}[h.IntN(2)]
			}
		case string:
			if h.IntN(40) == 0 {
				content[name] = []any{nil, ""}[h.IntN(2)]
			}
		case bool:
			content[name] = h.IntN(2) == 0
		}
	}
}

// apply checks an apply of a configuration with random options, and continues with its result.
func (h *applyHistory) apply(t *testing.T, config *unstructured.Unstructured) {
	t.Helper()
	req := registry.ApplyRequest{
		Object: config, Force: h.IntN(2) == 0, Subresource: []string{"", "", "", "status"}[h.IntN(4)],
		Options: registry.WriteOptions{FieldManager: []string{"one", "one", "two", "kubectl"}[h.IntN(4)]},
	}
	if _, ok := h.store.Resource().Subresource("status"); !ok {
		req.Subresource = ""
	}
	h.compare(t, req)
}

// compare checks an apply, and continues with its result.
func (h *applyHistory) compare(t *testing.T, req registry.ApplyRequest) {
	t.Helper()
	h.now = h.now.Add(time.Minute)
	library, direct, supported, err := h.store.ApplyBoth(h.live, req, h.now)
	switch {
	case err != nil && supported:
		t.Errorf("%v: supported, but not by package managedfields: %v", h.kind, err)
	case err != nil:
		h.invalid++
		return
	case !supported:
		h.unsupported++
	default:
		h.supported++
		for _, obj := range []runtime.Object{library, direct} {
			h.stamp(obj)
		}
		if diff := cmp.Diff(registrytest.Meta(library).GetManagedFields(), registrytest.Meta(direct).GetManagedFields()); diff != "" {
			t.Errorf("%v: managed fields (-library +direct):\n%s", h.kind, diff)
		} else if !reflect.DeepEqual(library, direct) {
			t.Errorf("%v: different objects:\nlibrary %+v\ndirect  %+v", h.kind, library, direct)
		}
	}
	h.stamp(library)
	h.live = library
	registrytest.Meta(h.live).SetUID("u")
}

// stamp sets the times that an apply has set.
func (h *applyHistory) stamp(obj runtime.Object) {
	var before []metav1.ManagedFieldsEntry
	if h.live != nil {
		before = registrytest.Meta(h.live).GetManagedFields()
	}
	entries := slices.Clone(registrytest.Meta(obj).GetManagedFields())
	stamp(entries, before, h.now)
	registrytest.Meta(obj).SetManagedFields(entries)
}

// run checks applies of configurations that are made of an object, which changes in between.
func (h *applyHistory) run(t *testing.T, obj runtime.Object) {
	t.Helper()
	h.change = []float64{0.1, 0.4, 0.8}[h.IntN(3)]
	h.fill(reflect.ValueOf(obj).Elem(), 7)
	for range 8 {
		config := h.configuration(t, obj)
		h.apply(t, config.DeepCopy())
		if h.IntN(2) == 0 {
			h.apply(t, config) // again, perhaps by another manager
		}
		h.change = []float64{0, 0.002, 0.02}[h.IntN(3)]
		h.fill(reflect.ValueOf(obj).Elem(), 7)
		if _, ok := h.live.(*unstructured.Unstructured); h.live != nil && !ok && h.IntN(3) == 0 {
			next := h.live.DeepCopyObject()
			h.fill(reflect.ValueOf(next).Elem(), 7)
			if h.store.UpdateManagedFields(h.live, next, "updater", false) == nil {
				h.live = next
			}
		}
	}
}

// An apply whose managed fields are computed directly has the result of package managedfields, for
// random objects of all built-in kinds.
func TestAppliesOfRandomObjectsEqualTheLibrary(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	f := &filler{Rand: rand.New(rand.NewPCG(seed, 0)), texts: plainTexts}
	stores := builtIn(t)
	var n tally
	for _, r := range kinds.Resources(feature.Default()) {
		store, ok := stores.Store(schema.GroupResource{Group: r.Group, Resource: r.Name})
		if !ok || r.Versions[0].FromHub != nil {
			continue
		}
		kind := schema.GroupVersionKind{Group: r.Group, Version: r.Versions[0].Name, Kind: r.Kind}
		custom := storeOf(t, customResource(kind, kinds.Types()))
		for _, store := range []*registry.Store{store, custom} {
			h := &applyHistory{tally: n, filler: f, store: store, kind: kind, now: time.Unix(1_000_000_000, 0).UTC()}
			h.run(t, r.Versions[0].New())
			n = h.tally
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%+v", n)
	if n.supported < 500 {
		t.Errorf("most applies are not supported: %+v", n)
	}
}

// Applies of recorded objects, one after the other to the same object, have the result of package
// managedfields.
func TestAppliesOfRecordedObjectsEqualTheLibrary(t *testing.T) {
	stores := builtIn(t)
	var n tally
	for r, list := range recordedObjects(t) {
		store, ok := stores.Store(schema.GroupResource{Group: r.Group, Resource: r.Name})
		if !ok {
			continue
		}
		h := &applyHistory{
			tally: n, filler: &filler{Rand: rand.New(rand.NewPCG(1, 2))}, store: store, now: time.Unix(1_700_000_000, 0).UTC(),
			kind: schema.GroupVersionKind{Group: r.Group, Version: r.Versions[0].Name, Kind: r.Kind},
		}
		for _, obj := range list[max(0, len(list)-20):] {
			h.apply(t, h.configuration(t, obj))
		}
		if n = h.tally; t.Failed() {
			return
		}
	}
	t.Logf("%+v", n)
	if n.supported < 100 {
		t.Errorf("most applies are not supported: %+v", n)
	}
}

// BenchmarkManagedFieldsOfApply compares both ways to compute an apply that changes one field.
func BenchmarkManagedFieldsOfApply(b *testing.B) {
	store, _ := builtIn(b).Store(schema.GroupResource{Resource: "pods"})
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(benchmarkPod())
	if err != nil {
		b.Fatal(err)
	}
	req := registry.ApplyRequest{Object: &unstructured.Unstructured{Object: content}, Options: registry.WriteOptions{FieldManager: "one"}}
	req.Object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	live, err := store.ApplyOnly(nil, req, true)
	if err != nil {
		b.Fatal(err)
	}
	registrytest.Meta(live).SetUID("u")
	req.Object.SetLabels(map[string]string{"app": "next"})
	for _, direct := range []bool{false, true} {
		b.Run(fmt.Sprintf("direct=%t", direct), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := store.ApplyOnly(live, req, direct); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Package managedfields removes an item without fields, whose key is empty, at the second apply.
func TestApplyOfEmptyItemsEqualsTheLibrary(t *testing.T) {
	store, _ := builtIn(t).Store(schema.GroupResource{Resource: "pods"})
	for _, spec := range []string{`{"containers":[{}]}`, `{"containers":[{"name":"c","ports":[{}]}]}`, `{"hostAliases":[{}]}`} {
		h := &applyHistory{store: store, kind: corev1.SchemeGroupVersion.WithKind("Pod"), now: time.Unix(1_000_000_000, 0).UTC()}
		for range 3 {
			config := &unstructured.Unstructured{}
			if err := config.UnmarshalJSON([]byte(`{"apiVersion":"v1","kind":"Pod","spec":` + spec + `}`)); err != nil {
				t.Fatal(err)
			}
			h.compare(t, registry.ApplyRequest{Object: config, Options: registry.WriteOptions{FieldManager: "one"}})
		}
	}
}
