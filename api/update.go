package api

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// update answers a PUT.
func (c *call) update() error {
	options, err := c.updateOptions()
	if err != nil {
		return err
	}
	obj, err := c.decodeBody(options.validation)
	if err != nil {
		return err
	}
	// The registry keeps what is proposed, and may ask again.
	propose := func(context.Context, runtime.Object) (runtime.Object, error) {
		return obj.DeepCopyObject(), nil
	}
	return c.write(registry.UpdateRequest{
		Namespace:      c.Namespace,
		Name:           c.Name,
		Subresource:    c.Subresource,
		Propose:        propose,
		CreateIfAbsent: true,
		Options:        options.WriteOptions,
	})
}

// write carries a PUT or a PATCH out and answers it.
func (c *call) write(req registry.UpdateRequest) error {
	result, err := c.store.Update(c.r.Context(), req)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if result.Created {
		status = http.StatusCreated
	}
	return c.respond(status, result.Object)
}
