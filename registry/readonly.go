package registry

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ReadOnly reports whether all writes of stored objects are rejected.
func (c *Catalog) ReadOnly() bool { return c.config.ReadOnly != "" }

// checkWritable returns a 403 if all writes are rejected. Clients do not repeat a request after a
// 403, and show its message. A 405 would state that the resource never has the verb, and clients
// such as the namespace controller ignore it.
func (b *base) checkWritable(name string) error {
	if !b.catalog.ReadOnly() {
		return nil
	}
	return apierrors.NewForbidden(b.resource.GroupResource(), name, errors.New(b.catalog.config.ReadOnly))
}
