package registry_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/json"

	"github.com/miniapi/miniapi/registry"
)

// Applies of any configurations by two managers, one after the other, have the result of package
// managedfields.
func FuzzApply(f *testing.F) {
	for _, seed := range []struct{ first, second string }{
		{`{"spec":{"containers":[{"name":"c","image":"i"}]}}`, `{"spec":{"containers":[{"name":"c","image":"j"},{"name":"d"}]}}`},
		{`{"metadata":{"labels":{"a":"b"},"finalizers":["x/y"]}}`, `{"metadata":{"labels":{"a":"c"},"finalizers":["x/y","x/z"]}}`},
		{`{"spec":{"containers":[{"name":"c","ports":[{"containerPort":80,"protocol":"TCP"}]}],"tolerations":[{"key":"k"}]}}`, `{"spec":null}`},
		{`{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1"}}}],"nodeSelector":{}}}`, `{"spec":{"containers":[{}],"unknown":1}}`},
		{`{"metadata":{"ownerReferences":[{"uid":"u"}]},"status":{"conditions":[{"type":"Ready"}]}}`, `{"metadata":[],"spec":{"containers":{}}}`},
		{`{"spec":{"containers":[{"name":"c"},{"name":"c"}],"topologySpreadConstraints":[{"topologyKey":"z","whenUnsatisfiable":"x"}]}}`, `{}`},
	} {
		f.Add(seed.first, seed.second, false)
		f.Add(seed.second, seed.first, true)
	}
	kind := corev1.SchemeGroupVersion.WithKind("Pod")
	store, _ := builtIn(f).Store(schema.GroupResource{Resource: "pods"})
	f.Fuzz(func(t *testing.T, first, second string, force bool) {
		h := &applyHistory{store: store, kind: kind, now: time.Unix(1_000_000_000, 0).UTC()}
		for i, text := range []string{first, second, first} {
			content := map[string]any{}
			if json.UnmarshalCaseSensitivePreserveInts([]byte(text), &content) != nil || content == nil {
				return
			}
			config := &unstructured.Unstructured{Object: content}
			config.SetGroupVersionKind(kind)
			h.compare(t, registry.ApplyRequest{
				Object: config, Force: force || i == 0, Options: registry.WriteOptions{FieldManager: []string{"one", "two"}[i%2]},
			})
		}
	})
}
