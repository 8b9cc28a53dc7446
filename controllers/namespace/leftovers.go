package namespace

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/storage"
)

// deleteLeftovers deletes the objects that another server has created in a namespace after its
// content was deleted. A new namespace of the same name keeps them.
func (c *Controller) deleteLeftovers(ctx context.Context, namespace string) error {
	if !c.config.Shared {
		return nil
	}
	var errs []error
	for _, store := range c.config.Catalog.Snapshot().Stores() {
		if !isDeletable(store.Resource()) {
			continue
		}
		errs = append(errs, eachPage(ctx, store, namespace, func(entries []*storage.Entry) error {
			// The namespace is absent after the page was read, so no object of the page belongs to
			// a new namespace.
			if err := c.requireAbsent(ctx, namespace); err != nil {
				return err
			}
			return deletePage(ctx, store, namespace, entries)
		}))
	}
	if err := errors.Join(errs...); !errors.Is(err, errExists) {
		return err
	}
	return nil
}

var errExists = errors.New("the namespace exists")

func (c *Controller) requireAbsent(ctx context.Context, namespace string) error {
	namespaces, err := c.namespaces()
	if err != nil {
		return err
	}
	switch _, err = namespaces.Get(ctx, "", namespace, ""); {
	case apierrors.IsNotFound(err):
		return nil
	case err == nil:
		return errExists
	}
	return err
}
