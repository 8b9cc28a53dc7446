package traffic

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/miniapi/miniapi/storage/storagetest/model"
)

// Names in all objects.
const (
	// Namespace is the namespace of all objects.
	Namespace = "robustness"
	// Finalizer is the only finalizer of objects.
	Finalizer = "robustness.miniapi.dev/finalizer"
	// colour is the label that selectors select by.
	colour = "colour"
	value  = "value"
)

// Object is one version of an object.
type Object struct {
	Name      string
	UID       string
	Value     string
	Colour    string
	Finalized bool // it has the finalizer
	Deleting  bool // it has a deletion timestamp
	Revision  int64
}

// Model returns the content of the version, as the model compares it.
func (o Object) Model() model.Object {
	content := o.Value
	if o.Finalized {
		content += " with finalizer"
	}
	if o.Deleting {
		content += " being deleted"
	}
	return model.Object{Value: content, Colour: o.Colour}
}

// IsFinalized reports whether the content of a version has the finalizer.
func IsFinalized(o model.Object) bool { return strings.Contains(o.Value, " with finalizer") }

// IsDeleting reports whether the content of a version has a deletion timestamp.
func IsDeleting(o model.Object) bool { return strings.HasSuffix(o.Value, " being deleted") }

// ValueOf returns the value that a write has stored.
func ValueOf(o model.Object) string {
	written, _, _ := strings.Cut(o.Value, " ")
	return written
}

// metaOf returns the metadata of an object to write.
func (o Object) meta() metav1.ObjectMeta {
	m := metav1.ObjectMeta{Name: o.Name, Namespace: Namespace, Labels: map[string]string{colour: o.Colour}}
	if o.Finalized {
		m.Finalizers = []string{Finalizer}
	}
	if o.Revision > 0 {
		m.ResourceVersion = strconv.FormatInt(o.Revision, 10)
	}
	return m
}

func fromMeta(m metav1.Object, written string) (Object, error) {
	revision, err := strconv.ParseInt(m.GetResourceVersion(), 10, 64)
	if err != nil {
		return Object{}, fmt.Errorf("%s has the resourceVersion %q", m.GetName(), m.GetResourceVersion())
	}
	return Object{
		Name: m.GetName(), UID: string(m.GetUID()), Value: written, Colour: m.GetLabels()[colour],
		Finalized: len(m.GetFinalizers()) > 0, Deleting: m.GetDeletionTimestamp() != nil, Revision: revision,
	}, nil
}

// fromRuntime returns the version that an object of an API response holds.
func fromRuntime(obj runtime.Object) (Object, error) {
	switch obj := obj.(type) {
	case *corev1.Secret:
		return fromMeta(obj, string(obj.Data[value]))
	case *unstructured.Unstructured:
		written, _, _ := unstructured.NestedString(obj.Object, "spec", value)
		return fromMeta(obj, written)
	}
	return Object{}, fmt.Errorf("unexpected object %T", obj)
}

// Decode returns the version that stored bytes hold.
func Decode(data []byte, revision int64) (Object, error) {
	obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		obj, _, err = unstructured.UnstructuredJSONScheme.Decode(data, nil, nil)
	}
	if err != nil {
		return Object{}, err
	}
	stored, err := meta(obj)
	if err != nil {
		return Object{}, err
	}
	stored.SetResourceVersion(strconv.FormatInt(revision, 10))
	return fromRuntime(obj)
}

func meta(obj runtime.Object) (metav1.Object, error) {
	m, ok := obj.(metav1.Object)
	if !ok {
		return nil, fmt.Errorf("%T has no metadata", obj)
	}
	return m, nil
}
