package api

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// get answers with one object.
func (c *call) get() error {
	var options metav1.GetOptions
	if err := decodeQuery(c.r, &options); err != nil {
		return err
	}
	obj, err := c.read(options.ResourceVersion)
	if err != nil {
		return err
	}
	return c.respond(http.StatusOK, obj)
}

func (c *call) read(resourceVersion string) (runtime.Object, error) {
	if c.sub != nil {
		return c.store.GetSubresource(c.r.Context(), c.Namespace, c.Name, c.Subresource)
	}
	entry, err := c.store.Get(c.r.Context(), c.Namespace, c.Name, resourceVersion)
	if err != nil {
		return nil, err
	}
	return entry.Object()
}
