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
	inPod := func(spec string) string { return `{"spec":{"template":{"spec":` + spec + `}}}` }
	names := inPod(`{"containers":[{"name":"c"},{"name":"side"}]}`)
	image := inPod(`{"containers":[{"name":"c","image":"i"},{"name":"side"}]}`)
	env := inPod(`{"containers":[{"name":"c","env":[{"name":"A"},{"name":"B","value":"b"}]},{"name":"side"}]}`)
	containers := inPod(`{"containers":` + encode(t, d.Spec.Template.Spec.Containers) + `}`)
	template := `{"spec":{"template":` + encode(t, d.Spec.Template) + `}}`
	tests := map[string]struct {
		tree  func(*Layouts, string) (*Tree, bool)
		patch string
		want  string // the document; empty: no tree
	}{
		"a value":                       {merge, `{"spec":{"replicas":1}}`, `{"spec":{"replicas":2}}`},
		"a map is touched as a whole":   {merge, `{"metadata":{"labels":{"x":"y"}}}`, `{"metadata":{"labels":{"a":"b"}}}`},
		"an item of a list":             {merge, `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"x"}]}}}}`, image},
		"an item of a list in an item":  {merge, `{"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"B","value":"x"}]}]}}}}`, env},
		"a new item of a list":          {merge, `{"spec":{"template":{"spec":{"containers":[{"name":"x"}]}}}}`, containers},
		"an item without a key":         {merge, `{"spec":{"template":{"spec":{"containers":[{"image":"x"}]}}}}`, containers},
		"a removed item of a list":      {merge, `{"spec":{"template":{"spec":{"containers":[{"name":"c","$patch":"delete"}]}}}}`, containers},
		"an unknown field of an item":   {merge, `{"spec":{"template":{"spec":{"containers":[{"name":"c","unknown":1}]}}}}`, ""},
		"the order of a list":           {merge, `{"spec":{"template":{"spec":{"$setElementOrder/containers":[]}}}}`, names},
		"items and their order":         {merge, `{"spec":{"template":{"spec":{"$setElementOrder/containers":[],"containers":[{"name":"c","image":"x"}]}}}}`, image},
		"a removed item and the order":  {merge, `{"spec":{"template":{"spec":{"$setElementOrder/containers":[],"containers":[{"name":"c","$patch":"delete"}]}}}}`, containers},
		"a list without a key":          {merge, `{"spec":{"template":{"spec":{"tolerations":[{"key":"x"}]}}}}`, inPod(`{"tolerations":[{"key":"k"}]}`)},
		"a list instead of a struct":    {merge, `{"spec":{"template":[]}}`, template},
		"a struct that is removed":      {merge, `{"spec":{"template":null}}`, template},
		"a struct with a directive":     {merge, `{"spec":{"template":{"$patch":"replace","spec":{}}}}`, template},
		"a nil struct is left out":      {merge, `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":1}}}}`, `{"spec":{"strategy":{}}}`},
		"an unknown field":              {merge, `{"spec":{"unknown":1}}`, ""},
		"the kind":                      {merge, `{"kind":"x"}`, ""},
		"a directive of the object":     {merge, `{"$patch":"replace"}`, ""},
		"a pointer into a list":         {point("/spec/template/spec/containers/0/name"), "", containers},
		"a pointer to a struct":         {point("/spec/template"), "", template},
		"a struct after one of it":      {point("/spec/template/spec/nodeName", "/spec/template"), "", template},
		"a struct before a field of it": {point("/spec/template", "/spec/template/spec/nodeName"), "", template},
		"a pointer to the object":       {point(""), "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var layouts Layouts
			tree, ok := test.tree(&layouts, test.patch)
			if !ok || test.want == "" {
				if ok != (test.want != "") {
					t.Errorf("got a tree: %v", ok)
				}
				return
			}
			document, err := tree.JSON(d)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, test.want), decode(t, string(document))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func encode(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func decode(t *testing.T, document string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(document), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestSetChangesTouchedFieldsOnly(t *testing.T) {
	var layouts Layouts
	d := deployment()
	tree, ok := layouts.Pointers(d, []string{"/spec/template/spec/nodeName", "/spec/replicas"})
	if !ok {
		t.Fatal("no tree")
	}
	want := deployment()
	want.Spec.Template.Spec.NodeName, want.Spec.Replicas = "changed", nil
	if !tree.Set(d, []byte(`{"metadata":{"name":"other"},"spec":{"template":{"spec":{"nodeName":"changed"}}}}`)) {
		t.Error("incomplete")
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}

func TestSetRejectsOtherDocuments(t *testing.T) {
	var layouts Layouts
	tree, ok := layouts.Pointers(deployment(), []string{"/spec/template/spec/nodeName", "/metadata/labels"})
	if !ok {
		t.Fatal("no tree")
	}
	for name, document := range map[string]string{
		"no object":           `[]`,
		"null":                `null`,
		"null for a struct":   `{"metadata":null,"spec":{"template":{"spec":{}}}}`,
		"a missing struct":    `{"metadata":{},"spec":{}}`,
		"a list for a struct": `{"metadata":{},"spec":{"template":{"spec":[]}}}`,
		"another type":        `{"metadata":{},"spec":{"template":{"spec":{"nodeName":1}}}}`,
		"another element":     `{"metadata":{"labels":{"a":1}},"spec":{"template":{"spec":{}}}}`,
	} {
		if tree.Set(deployment(), []byte(document)) {
			t.Errorf("%s was set", name)
		}
	}
}

// The document of the touched fields and the document of the object omit the same empty fields.
func TestEmptyFields(t *testing.T) {
	var layouts Layouts
	obj := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}}}
	tree, ok := layouts.Pointers(obj, []string{"/metadata/creationTimestamp", "/metadata/labels", "/metadata/name", "/spec/containers", "/spec/priority", "/status/startTime"})
	if !ok {
		t.Fatal("no tree")
	}
	document, err := tree.JSON(obj)
	if err != nil {
		t.Fatal(err)
	}
	whole := decode(t, encode(t, obj)).(map[string]any)
	if diff := cmp.Diff(map[string]any{"metadata": whole["metadata"], "spec": whole["spec"], "status": whole["status"]}, decode(t, string(document))); diff != "" {
		t.Error(diff)
	}
}

// Items that a patch has moved, added or removed are not set.
func TestSetRequiresTheSameItems(t *testing.T) {
	var layouts Layouts
	var patch map[string]any
	if err := json.Unmarshal([]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"x"}]}}}}`), &patch); err != nil {
		t.Fatal(err)
	}
	tree, ok := layouts.StrategicMerge(deployment(), patch)
	if !ok {
		t.Fatal("no tree")
	}
	set := func(d *appsv1.Deployment, items string) bool {
		return tree.Set(d, []byte(`{"spec":{"template":{"spec":{"containers":`+items+`}}}}`))
	}
	for name, items := range map[string]string{
		"moved":   `[{"name":"side","image":"x"},{"name":"c"}]`,
		"added":   `[{"name":"c"},{"name":"side","image":"x"},{"name":"new"}]`,
		"removed": `[{"name":"c"}]`,
		"renamed": `[{"name":"c"},{"name":"new","image":"x"}]`,
		"no":      `null`,
	} {
		if set(deployment(), items) {
			t.Errorf("%s items were set", name)
		}
	}
	d, want := deployment(), deployment()
	want.Spec.Template.Spec.Containers[1].Image = "x"
	if !set(d, `[{"name":"c","image":"untouched"},{"name":"side","image":"x"}]`) {
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
