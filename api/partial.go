package api

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// partial reduces an object to its metadata, without apiVersion and kind. The
// result's metadata share memory with obj; neither may be written to.
func (c *call) partial(obj runtime.Object) (*metav1.PartialObjectMetadata, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	partial := meta.AsPartialObjectMetadata(m)
	if show := c.resource.Metadata; show != nil {
		partial.ObjectMeta = show(partial.ObjectMeta)
	}
	return partial, nil
}
