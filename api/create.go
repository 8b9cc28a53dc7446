package api

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// create answers a POST.
func (c *call) create() error {
	options, err := c.createOptions()
	if err != nil {
		return err
	}
	obj, err := c.decodeBody(options.validation)
	if err != nil {
		return err
	}
	created, err := c.createIn(registry.CreateRequest{
		Namespace: c.Namespace,
		Name:      c.Name,
		Object:    obj,
		Options:   options.WriteOptions,
	})
	if err != nil {
		return err
	}
	c.settle()
	return c.respond(http.StatusCreated, created)
}

func (c *call) createIn(req registry.CreateRequest) (runtime.Object, error) {
	if c.sub != nil {
		return c.store.CreateSubresource(c.r.Context(), c.Subresource, req)
	}
	result, err := c.store.Create(c.r.Context(), req)
	return result.Object, err
}
