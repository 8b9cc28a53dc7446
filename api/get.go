package api

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// get handles a GET of one object or subresource.
func (c *call) get() error {
	var options metav1.GetOptions
	if err := decodeQuery(c.r, &options); err != nil {
		return err
	}
	c.record.SetResourceVersion(options.ResourceVersion)
	if c.sub != nil {
		entry, err := c.store.GetSubresource(c.r.Context(), c.Namespace, c.Name, c.Subresource)
		if err != nil {
			return err
		}
		return c.respondEntry(http.StatusOK, entry)
	}
	revision, err := c.exactRevision(options)
	if err != nil {
		return err
	}
	if revision > 0 {
		entry, err := c.store.GetExact(c.r.Context(), c.Namespace, c.Name, revision)
		if err != nil {
			return err
		}
		return c.respondEntry(http.StatusOK, entry)
	}
	entry, err := c.store.Get(c.r.Context(), c.Namespace, c.Name, options.ResourceVersion)
	if err != nil {
		return err
	}
	return c.respondEntry(http.StatusOK, entry)
}
