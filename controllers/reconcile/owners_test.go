package reconcile

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/storage"
)

func TestOwnersOfAChange(t *testing.T) {
	kind := schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}
	tracked := owners{}
	steps := []struct {
		rule string
		refs []metav1.OwnerReference // nil: deleted
		want []string
	}{
		{"a new dependent affects its controller", []metav1.OwnerReference{controller("apps/v1", "ReplicaSet", "a")}, []string{"a"}},
		{"another controller affects both", []metav1.OwnerReference{controller("apps/v1", "ReplicaSet", "b")}, []string{"a", "b"}},
		{"a change without another controller affects it once", []metav1.OwnerReference{controller("apps/v1", "ReplicaSet", "b")}, []string{"b"}},
		{"the version of the API is irrelevant", []metav1.OwnerReference{controller("apps/v1beta1", "ReplicaSet", "b")}, []string{"b"}},
		{"a deletion affects the last controller", nil, []string{"b"}},
		{"a deleted dependent is forgotten", nil, nil},
		{"an owner that is no controller is ignored", []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "a"}}, nil},
		{"a controller of another kind is ignored", []metav1.OwnerReference{controller("apps/v1", "DaemonSet", "a")}, nil},
		{"a controller of another group is ignored", []metav1.OwnerReference{controller("example.com/v1", "ReplicaSet", "a")}, nil},
	}
	for _, step := range steps {
		got := tracked.update(dependent(t, step.refs), kind)
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: %s", step.rule, diff)
		}
	}
}

func controller(apiVersion, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, Controller: new(true)}
}

// dependent returns the change of a Pod to a state with owner references, or its deletion.
func dependent(t *testing.T, refs []metav1.OwnerReference) Change {
	t.Helper()
	if refs == nil {
		return Change{Change: storage.Change{Key: "/pods/default/p", Deleted: true}}
	}
	data, err := json.Marshal(map[string]any{"metadata": metav1.ObjectMeta{Name: "p", OwnerReferences: refs}})
	if err != nil {
		t.Fatal(err)
	}
	return Change{Change: storage.Change{Key: "/pods/default/p", Data: data}}
}

func TestKeysetOfANamespace(t *testing.T) {
	s := keyset{}
	s.set("x", "a", true)
	s.set("x", "b", true)
	s.set("y", "a", true)
	s.set("", "c", true)
	s.set("x", "b", false)
	for namespace, want := range map[string][]string{"x": {"/c", "x/a"}, "z": {"/c"}, "": {"/c", "x/a", "y/a"}} {
		var got []string
		s.each(namespace, func(key string) { got = append(got, key) })
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("namespace %q: %s", namespace, diff)
		}
	}
}
