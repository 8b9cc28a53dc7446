package api

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/registry"
)

// connect answers requests for what needs a node behind it.
func (c *call) connect() error {
	query := c.r.URL.Query()
	if query.Has("dryRun") {
		return apierrors.NewBadRequest("dryRun is not supported")
	}
	err := c.store.Connect(c.r.Context(), c.Subresource, registry.ConnectRequest{
		Namespace: c.Namespace,
		Name:      c.Name,
		Path:      c.Rest,
		Query:     query,
		Method:    c.r.Method,
	})
	if err != nil {
		return err
	}
	// Without a node there is one thing to show: the log of a pod that is on
	// none, and it is empty.
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
