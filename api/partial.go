package api

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// partialMetadata reduces an object to its metadata. The result shares memory
// with obj; neither may be written to.
func partialMetadata(obj runtime.Object) (*metav1.PartialObjectMetadata, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	partial := meta.AsPartialObjectMetadata(m)
	partial.TypeMeta = metav1.TypeMeta{
		APIVersion: metav1.SchemeGroupVersion.String(),
		Kind:       "PartialObjectMetadata",
	}
	return partial, nil
}
