package fieldtree

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func deployment() *appsv1.Deployment {
	replicas := int32(2)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "d", Labels: map[string]string{"a": "b"}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				NodeName:   "n",
				Containers: []corev1.Container{{Name: "c"}},
			}},
		},
	}
}

func TestTreesOfPatches(t *testing.T) {
	d := deployment()
	merge := func(l *Layouts, patch string) (*Tree, bool) {
		var changes map[string]any
		if err := json.Unmarshal([]byte(patch), &changes); err != nil {
			t.Fatal(err)
		}
		return l.StrategicMerge(d, changes)
	}
	point := func(pointers ...string) func(*Layouts, string) (*Tree, bool) {
		return func(l *Layouts, _ string) (*Tree, bool) { return l.Pointers(d, pointers) }
	}
	containers := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Containers: d.Spec.Template.Spec.Containers}}}}
	template := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: d.Spec.Template}}
	tests := map[string]struct {
		tree  func(*Layouts, string) (*Tree, bool)
		patch string
		want  *appsv1.Deployment // nil: no tree
	}{
		"a value":                       {merge, `{"spec":{"replicas":1}}`, &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: d.Spec.Replicas}}},
		"a map is touched as a whole":   {merge, `{"metadata":{"labels":{"x":"y"}}}`, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Labels: d.Labels}}},
		"a list is touched as a whole":  {merge, `{"spec":{"template":{"spec":{"containers":[{"name":"x"}]}}}}`, containers},
		"the order of a list":           {merge, `{"spec":{"template":{"spec":{"$setElementOrder/containers":[]}}}}`, containers},
		"a struct that is removed":      {merge, `{"spec":{"template":null}}`, template},
		"a struct with a directive":     {merge, `{"spec":{"template":{"$patch":"replace","spec":{}}}}`, template},
		"a nil struct":                  {merge, `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":1}}}}`, &appsv1.Deployment{}},
		"an unknown field":              {merge, `{"spec":{"unknown":1}}`, nil},
		"the kind":                      {merge, `{"kind":"x"}`, nil},
		"a directive of the object":     {merge, `{"$patch":"replace"}`, nil},
		"a pointer into a list":         {point("/spec/template/spec/containers/0/name"), "", containers},
		"a pointer to a struct":         {point("/spec/template"), "", template},
		"a struct after one of it":      {point("/spec/template/spec/nodeName", "/spec/template"), "", template},
		"a struct before a field of it": {point("/spec/template", "/spec/template/spec/nodeName"), "", template},
		"a pointer to the object":       {point(""), "", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var layouts Layouts
			tree, ok := test.tree(&layouts, test.patch)
			if !ok || test.want == nil {
				if ok != (test.want != nil) {
					t.Errorf("got a tree: %v", ok)
				}
				return
			}
			if diff := cmp.Diff(runtime.Object(test.want), tree.Reduce(&appsv1.Deployment{}, d)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCopySetsTouchedFieldsOnly(t *testing.T) {
	var layouts Layouts
	d, patched := deployment(), deployment()
	tree, ok := layouts.Pointers(d, []string{"/spec/template/spec/nodeName"})
	if !ok {
		t.Fatal("no tree")
	}
	patched.Name, patched.Spec.Template.Spec.NodeName = "other", "changed"
	want := deployment()
	want.Spec.Template.Spec.NodeName = "changed"
	if !tree.Copy(d, patched) {
		t.Error("incomplete")
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}

// Objects that encoding and decoding may change have no trees.
func TestOpaqueObjects(t *testing.T) {
	var layouts Layouts
	for name, obj := range map[string]runtime.Object{
		"raw JSON":     &appsv1.ControllerRevision{},
		"unstructured": &unstructured.Unstructured{Object: map[string]any{}},
	} {
		if _, ok := layouts.Merge(obj, map[string]any{}); ok {
			t.Errorf("%s has a tree", name)
		}
	}
}
