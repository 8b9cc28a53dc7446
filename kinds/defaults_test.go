package kinds_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/registry"
)

// defaulting is a table of cases of one kind.
type defaulting struct {
	group, resource, version string
	// always is added to every object of the table that does not set it.
	always string
	// sums adds up resources.
	sums  bool
	cases []defaultCase
}

// defaultCase has a given object and the added defaults, in YAML. Lists are merged item by item;
// null removes a value.
type defaultCase struct{ name, given, added string }

func (d defaulting) run(t *testing.T) {
	t.Helper()
	r := find(t, d.group, d.resource)
	version, ok := r.Version(d.version)
	if !ok {
		t.Fatalf("no version %s of %s", d.version, d.resource)
	}
	for _, c := range d.cases {
		t.Run(d.resource+"/"+c.name, func(t *testing.T) {
			given := document(t, c.given)
			want := typed(t, version, added(added(document(t, d.always), given), document(t, c.added)))
			got := typed(t, version, given)
			version.Default(got)
			if !equality.Semantic.DeepEqual(want, got) {
				t.Errorf("(-want +got):\n%s", gocmp.Diff(want, got))
			}
			if allocations := testing.AllocsPerRun(1, func() { version.Default(got) }); allocations > 0 && !d.sums {
				t.Errorf("%g allocations where nothing is left to do", allocations)
			}
			if !equality.Semantic.DeepEqual(want, got) {
				t.Errorf("after the second time (-want +got):\n%s", gocmp.Diff(want, got))
			}
		})
	}
}

func document(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

func typed(t *testing.T, version registry.Version, value any) runtime.Object {
	t.Helper()
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	obj := version.New()
	if err := yaml.UnmarshalStrict(text, obj); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return obj
}

// added returns a merged copy of a value.
func added(value, more any) any {
	switch more := more.(type) {
	case map[string]any:
		was, _ := value.(map[string]any)
		result := make(map[string]any, len(was)+len(more))
		for key, item := range was {
			result[key] = item
		}
		for key, item := range more {
			if result[key] = added(result[key], item); item == nil {
				delete(result, key)
			}
		}
		return result
	case []any:
		was, _ := value.([]any)
		result := make([]any, max(len(was), len(more)))
		copy(result, was)
		for i, item := range more {
			result[i] = added(result[i], item)
		}
		return result
	case nil:
		return value
	}
	return more
}

// TestDefaultsOfCompleteObjects requires that defaulting does not change the answers of
// kube-apiserver.
func TestDefaultsOfCompleteObjects(t *testing.T) {
	for _, c := range creations(t) {
		version, r, obj, _ := c.object(t)
		if version.Default == nil {
			continue
		}
		got := obj.DeepCopyObject()
		version.Default(got)
		if !equality.Semantic.DeepEqual(obj, got) {
			t.Errorf("%s (-before +after):\n%s", r.GroupResource(), gocmp.Diff(obj, got))
		}
	}
}
