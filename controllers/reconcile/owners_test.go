package reconcile

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
		got, _ := tracked.update(dependentChange(t, step.refs), kind)
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: %s", step.rule, diff)
		}
	}
}

// A dependent without a controller is an orphan once, and again when its labels change.
func TestOrphansOfAChange(t *testing.T) {
	kind := schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}
	tracked := owners{}
	steps := []struct {
		rule   string
		labels map[string]string
		refs   []metav1.OwnerReference
		want   bool
	}{
		{"a new dependent", nil, nil, true},
		{"no change of the labels", nil, nil, false},
		{"other labels", map[string]string{"app": "a"}, nil, true},
		{"the same labels", map[string]string{"app": "a"}, nil, false},
		{"adoption", map[string]string{"app": "a"}, []metav1.OwnerReference{controller("apps/v1", "ReplicaSet", "a")}, false},
		{"release", map[string]string{"app": "a"}, nil, true},
		{"adoption by another kind", map[string]string{"app": "a"}, []metav1.OwnerReference{controller("batch/v1", "Job", "a")}, false},
		{"release by another kind", map[string]string{"app": "a"}, nil, true},
	}
	for _, step := range steps {
		for format, encode := range map[string]func(*corev1.Pod) []byte{"JSON": encodeJSON(t), "protobuf": encodeProtobuf(t)} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: step.labels, OwnerReferences: step.refs}}
			if _, got := tracked.update(Change{Change: storage.Change{Key: format, Data: encode(pod)}}, kind); got != step.want {
				t.Errorf("%s in %s: orphan %v, want %v", step.rule, format, got, step.want)
			}
		}
	}
}

func encodeJSON(t *testing.T) func(*corev1.Pod) []byte {
	return func(pod *corev1.Pod) []byte {
		data, err := json.Marshal(pod)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
}

func encodeProtobuf(t *testing.T) func(*corev1.Pod) []byte {
	return func(pod *corev1.Pod) []byte {
		raw, err := pod.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		message, err := (&runtime.Unknown{Raw: raw}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return append([]byte("k8s\x00"), message...)
	}
}

func controller(apiVersion, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, Controller: new(true)}
}

// dependentChange returns the change of a Pod to a state with owner references, or its deletion.
func dependentChange(t *testing.T, refs []metav1.OwnerReference) Change {
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
