package api

import (
	"context"
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
	created, err := finish(c, func(ctx context.Context) (runtime.Object, error) {
		return c.createIn(ctx, registry.CreateRequest{
			Namespace: c.Namespace,
			Name:      c.Name,
			Object:    obj,
			Options:   options.WriteOptions,
		})
	})
	if err != nil {
		return err
	}
	c.settle()
	return c.respond(http.StatusCreated, created)
}

func (c *call) createIn(ctx context.Context, req registry.CreateRequest) (runtime.Object, error) {
	if c.sub != nil {
		return c.store.CreateSubresource(ctx, c.Subresource, req)
	}
	result, err := c.store.Create(ctx, req)
	return result.Object, err
}
