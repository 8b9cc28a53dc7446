package registry

import (
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ClearKind clears apiVersion and kind: objects of the hub version have none.
func ClearKind(obj runtime.Object) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		delete(u.Object, "apiVersion")
		delete(u.Object, "kind")
		return
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
}

// ShallowCopy returns a copy of the outermost struct and the metadata of an object, or of these
// two maps. Setting fields of these does not change obj.
func ShallowCopy(obj runtime.Object) runtime.Object {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		from := reflect.ValueOf(obj).Elem()
		to := reflect.New(from.Type())
		to.Elem().Set(from)
		return to.Interface().(runtime.Object)
	}
	object := maps.Clone(u.Object)
	if metadata, ok := object["metadata"].(map[string]any); ok {
		object["metadata"] = maps.Clone(metadata)
	}
	return &unstructured.Unstructured{Object: object}
}
