package storagetest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/storage"
)

// Object is an object that the suite stores.
type Object interface {
	metav1.Object
	runtime.Object
}

// Kind is a kind of the test objects. Objects differ in their metadata only, so that each rule is
// written once for all kinds.
type Kind struct {
	Name     string
	Resource string // the first part of its keys
	Codec    storage.Codec
	blank    func() Object
}

const (
	valueKey  = "test.miniapi.dev/value" // annotation that updates change
	colourKey = "colour"                 // label that predicates select by
)

// Kinds returns a typed kind, stored as protobuf, and an unstructured kind, stored as JSON.
func Kinds() []Kind {
	codec, err := newPodCodec()
	if err != nil {
		panic("storagetest: " + err.Error()) // k8s.io/api does not fit its own scheme
	}
	return []Kind{
		{Name: "Typed", Resource: "pods", Codec: codec, blank: blankPod},
		{Name: "Unstructured", Resource: "test.miniapi.dev/widgets", Codec: jsonCodec{}, blank: blankWidget},
	}
}

func blankPod() Object {
	return &corev1.Pod{Spec: corev1.PodSpec{
		NodeName:   "node-1",
		Containers: []corev1.Container{{Name: "main", Image: "example/image:1"}},
	}}
}

func blankWidget() Object {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "test.miniapi.dev/v1",
		"kind":       "Widget",
		"spec":       map[string]any{"size": int64(3), "parts": []any{"bolt", "nut"}},
	}}
}

// New returns an object with a value.
func (k Kind) New(namespace, name, value string) Object {
	obj := k.blank()
	obj.SetNamespace(namespace)
	obj.SetName(name)
	obj.SetUID(types.UID("uid-of-" + name))
	setValue(obj, value)
	return obj
}

// Key returns the key of an object.
func (k Kind) Key(namespace, name string) string {
	return "/" + k.Resource + "/" + namespace + "/" + name
}

// Attrs returns the labels of an object, and its fields for field selectors.
func (k Kind) Attrs(obj runtime.Object) (labels.Set, fields.Set, error) {
	o, ok := obj.(Object)
	if !ok {
		return nil, nil, fmt.Errorf("%T has no metadata", obj)
	}
	set := fields.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace(), colourKey: colourOf(o)}
	return o.GetLabels(), set, nil
}

// Coloured selects the objects of a colour.
func (k Kind) Coloured(colour string) storage.Predicate {
	return storage.Predicate{Label: labels.SelectorFromSet(labels.Set{colourKey: colour}), Attrs: k.Attrs}
}

// ColouredByField selects the objects of a colour by a field.
func (k Kind) ColouredByField(colour string) storage.Predicate {
	return storage.Predicate{Field: fields.OneTermEqualSelector(colourKey, colour), Attrs: k.Attrs}
}

// Named selects the objects of a name.
func (k Kind) Named(name string) storage.Predicate {
	return storage.Predicate{Field: fields.OneTermEqualSelector("metadata.name", name), Attrs: k.Attrs}
}

func setValue(obj Object, value string) {
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[valueKey] = value
	obj.SetAnnotations(annotations)
}

func valueOf(obj Object) string { return obj.GetAnnotations()[valueKey] }

// paint sets the colour of obj; "" removes it.
func paint(obj Object, colour string) {
	if colour == "" {
		obj.SetLabels(nil)
		return
	}
	obj.SetLabels(map[string]string{colourKey: colour})
}

func colourOf(obj Object) string { return obj.GetLabels()[colourKey] }
