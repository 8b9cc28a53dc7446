package api

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// update answers a PUT.
func (c *call) update() error {
	options, err := c.updateOptions()
	if err != nil {
		return err
	}
	obj, err := c.decodeBody(options.fieldValidation)
	if err != nil {
		return err
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	// What names another object is refused even if there is none of that name.
	if err := c.store.CheckNamespace(accessor, c.Namespace); err != nil {
		return err
	}
	if err := c.store.CheckName(accessor, c.Name); err != nil {
		return err
	}
	propose := func(context.Context, runtime.Object) (runtime.Object, error) { return obj, nil }
	return c.write(registry.UpdateRequest{
		Namespace:      c.Namespace,
		Name:           c.Name,
		Subresource:    c.Subresource,
		UID:            accessor.GetUID(),
		Propose:        propose,
		CreateIfAbsent: true,
		Options:        options.WriteOptions,
	})
}

// settle waits, after a write, for what it defines.
func (c *call) settle() {
	if settle := c.server.config.Settle; c.resource.Defines && settle != nil {
		settle(c.r.Context())
	}
}

// write carries a PUT or a PATCH out and answers it.
func (c *call) write(req registry.UpdateRequest) error {
	result, err := finish(c, func(ctx context.Context) (registry.Result, error) {
		return c.store.Update(ctx, req)
	})
	if err != nil {
		return err
	}
	c.settle()
	status := http.StatusOK
	if result.Created {
		status = http.StatusCreated
	}
	return c.respondEntry(status, result.Entry)
}
