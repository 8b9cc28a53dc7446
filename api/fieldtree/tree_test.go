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
				NodeName: "n",
				Containers: []corev1.Container{
					{Name: "c", Image: "i", Env: []corev1.EnvVar{{Name: "A", Value: "a"}, {Name: "B", Value: "b"}}},
					{Name: "side", Image: "s"},
				},
				Tolerations: []corev1.Toleration{{Key: "k"}},
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
	inPod := func(spec corev1.PodSpec) *appsv1.Deployment {
		return &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: spec}}}
	}
	names := inPod(corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}, {Name: "side"}}})
	image := inPod(corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}, {Name: "side"}}})
	env := inPod(corev1.PodSpec{Containers: []corev1.Container{
		{Name: "c", Env: []corev1.EnvVar{{Name: "A"}, {Name: "B", Value: "b"}}}, {Name: "side"}}})
	template := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: d.Spec.Template}}
	tests := map[string]struct {
		tree  func(*Layouts, string) (*Tree, bool)
		patch string
		want  *appsv1.Deployment // nil: no tree
	}{
		"a value":                       {merge, `{"spec":{"replicas":1}}`, &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: d.Spec.Replicas}}},
		"a map is touched as a whole":   {merge, `{"metadata":{"labels":{"x":"y"}}}`, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Labels: d.Labels}}},
		"an item of a list":             {merge, `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"x"}]}}}}`, image},
		"an item of a list in an item":  {merge, `{"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"B","value":"x"}]}]}}}}`, env},
		"a new item of a list":          {merge, `{"spec":{"template":{"spec":{"containers":[{"name":"x"}]}}}}`, containers},
		"an item without a key":         {merge, `{"spec":{"template":{"spec":{"containers":[{"image":"x"}]}}}}`, containers},
		"a removed item of a list":      {merge, `{"spec":{"template":{"spec":{"containers":[{"name":"c","$patch":"delete"}]}}}}`, containers},
		"an unknown field of an item":   {merge, `{"spec":{"template":{"spec":{"containers":[{"name":"c","unknown":1}]}}}}`, nil},
		"the order of a list":           {merge, `{"spec":{"template":{"spec":{"$setElementOrder/containers":[]}}}}`, names},
		"items and their order":         {merge, `{"spec":{"template":{"spec":{"$setElementOrder/containers":[],"containers":[{"name":"c","image":"x"}]}}}}`, image},
		"a removed item and the order":  {merge, `{"spec":{"template":{"spec":{"$setElementOrder/containers":[],"containers":[{"name":"c","$patch":"delete"}]}}}}`, containers},
		"a list without a key":          {merge, `{"spec":{"template":{"spec":{"tolerations":[{"key":"x"}]}}}}`, inPod(corev1.PodSpec{Tolerations: d.Spec.Template.Spec.Tolerations})},
		"a list instead of a struct":    {merge, `{"spec":{"template":[]}}`, template},
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

// Items that a patch has moved, added or removed are not copied.
func TestCopyRequiresTheSameItems(t *testing.T) {
	var layouts Layouts
	var patch map[string]any
	if err := json.Unmarshal([]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"x"}]}}}}`), &patch); err != nil {
		t.Fatal(err)
	}
	tree, ok := layouts.StrategicMerge(deployment(), patch)
	if !ok {
		t.Fatal("no tree")
	}
	for name, change := range map[string]func([]corev1.Container) []corev1.Container{
		"moved":   func(c []corev1.Container) []corev1.Container { return []corev1.Container{c[1], c[0]} },
		"added":   func(c []corev1.Container) []corev1.Container { return append(c, corev1.Container{Name: "new"}) },
		"removed": func(c []corev1.Container) []corev1.Container { return c[:1] },
	} {
		patched := deployment()
		patched.Spec.Template.Spec.Containers = change(patched.Spec.Template.Spec.Containers)
		if tree.Copy(deployment(), patched) {
			t.Errorf("%s items were copied", name)
		}
	}
	d, patched := deployment(), deployment()
	patched.Spec.Template.Spec.Containers[0].Image = "untouched"
	patched.Spec.Template.Spec.Containers[1].Image = "x"
	want := deployment()
	want.Spec.Template.Spec.Containers[1].Image = "x"
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
