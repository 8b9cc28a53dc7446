package api

import (
	"context"
	"net/http"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// create handles a POST.
func (c *call) create() error {
	options, err := c.createOptions()
	if err != nil {
		return err
	}
	obj, err := c.decodeBody(options.fieldValidation)
	if err != nil {
		return err
	}
	if c.kindError != nil {
		return c.kindError
	}
	c.recordName(obj)
	created, err := runWrite(c, func(ctx context.Context) (*storage.Entry, error) {
		return c.createObject(ctx, registry.CreateRequest{
			Namespace: c.Namespace,
			Name:      c.Name,
			Object:    obj,
			Options:   options.WriteOptions,
		})
	})
	if err != nil {
		return err
	}
	c.recordGeneratedName(created)
	c.syncCatalog()
	return c.respondEntry(http.StatusCreated, created)
}

// createObject creates an object or a subresource.
func (c *call) createObject(ctx context.Context, req registry.CreateRequest) (*storage.Entry, error) {
	if c.sub != nil {
		return c.store.CreateSubresource(ctx, c.Subresource, req)
	}
	result, err := c.store.Create(ctx, req)
	return result.Entry, err
}
