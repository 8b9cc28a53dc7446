package api

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	c.setSentVersion(accessor.GetResourceVersion())
	// A body for another object is rejected before the lookup: a 400 takes precedence over a 404.
	if err := c.resource.CheckNamespace(accessor, c.Namespace); err != nil {
		return err
	}
	if err := registry.CheckName(accessor, c.Name); err != nil {
		return err
	}
	propose := func(_ context.Context, current runtime.Object) (runtime.Object, error) {
		if c.kindError != nil && !conflicts(accessor, current) {
			return nil, c.kindError
		}
		return obj, nil
	}
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

// conflicts reports whether an update has another resourceVersion than the current object. The
// conflict takes precedence over an invalid object.
func conflicts(update metav1.Object, current runtime.Object) bool {
	accessor, err := meta.Accessor(current)
	return err == nil && update.GetResourceVersion() != "" && update.GetResourceVersion() != accessor.GetResourceVersion()
}
