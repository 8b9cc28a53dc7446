package kinds_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// The files in testdata are answers and stored values of kube-apiserver v1.36.3.

func load[T any](t testing.TB, name string) T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var value T
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value
}

// creation is the POST of a minimal object.
type creation struct {
	Path     string
	Request  json.RawMessage
	Response json.RawMessage
	Status   int
}

// object returns the recorded answer in its version and in the hub.
func (c creation) object(t testing.TB) (version registry.Version, r *registry.Resource, obj, hub runtime.Object) {
	t.Helper()
	gv, name := splitPath(c.Path)
	r = find(t, gv.Group, name)
	version, ok := r.Version(gv.Version)
	if !ok {
		t.Fatalf("%s is not served in %s", r.GroupResource(), gv)
	}
	obj = version.New()
	var compact bytes.Buffer // managedFields keep the spaces between their tokens
	if err := json.Compact(&compact, c.Response); err != nil {
		t.Fatalf("%s: %v", c.Path, err)
	}
	if err := json.Unmarshal(compact.Bytes(), obj); err != nil {
		t.Fatalf("%s: %v", c.Path, err)
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	if version.ToHub == nil {
		return version, r, obj, obj
	}
	hub, err := version.ToHub(obj.DeepCopyObject())
	if err != nil {
		t.Fatalf("%s: %v", c.Path, err)
	}
	return version, r, obj, hub
}

// creations returns the recorded creations of stored objects.
func creations(t testing.TB) []creation {
	t.Helper()
	return slices.DeleteFunc(load[[]creation](t, "create-minimal.json"), func(c creation) bool { return c.Status != 201 })
}

// splitPath splits the path of a collection.
func splitPath(path string) (gv schema.GroupVersion, resource string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "api" {
		gv = schema.GroupVersion{Version: parts[1]}
	} else {
		gv = schema.GroupVersion{Group: parts[1], Version: parts[2]}
	}
	return gv, parts[len(parts)-1]
}

func find(t testing.TB, group, name string) *registry.Resource {
	t.Helper()
	for _, r := range kinds.Resources(feature.At(36)) {
		if r.Group == group && r.Name == name {
			return r
		}
	}
	t.Fatalf("no resource %s in group %q", name, group)
	return nil
}

func findKind(t testing.TB, group, kind string) *registry.Resource {
	t.Helper()
	for _, r := range kinds.Resources(feature.At(36)) {
		if r.Group == group && r.Kind == kind {
			return r
		}
	}
	t.Fatalf("no kind %s in group %q", kind, group)
	return nil
}

// values returns the contents of kube-apiserver's etcd by key.
func values(t testing.TB) map[string][]byte {
	t.Helper()
	return load[map[string][]byte](t, "values.json")
}
