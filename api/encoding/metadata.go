package encoding

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// PartialMetadata returns the metadata of an object without apiVersion and kind. It shares memory
// with obj; neither may be changed.
func PartialMetadata(obj runtime.Object) (*metav1.PartialObjectMetadata, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	return meta.AsPartialObjectMetadata(m), nil
}

// TypeHeader returns the apiVersion and kind of a body.
func TypeHeader(kind schema.GroupVersionKind) metav1.TypeMeta {
	version, name := kind.ToAPIVersionAndKind()
	return metav1.TypeMeta{APIVersion: version, Kind: name}
}
