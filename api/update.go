package api

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// update handles a PUT.
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
	c.record.SetResourceVersion(accessor.GetResourceVersion())
	// A body for another object is rejected before the lookup: a 400 takes precedence over a 404.
	if err := c.resource.CheckNamespace(accessor, c.Namespace); err != nil {
		return err
	}
	if err := registry.CheckName(accessor, c.Name); err != nil {
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
