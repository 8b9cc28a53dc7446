package api

import (
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/registry"
)

// connect handles requests to a subresource that connects to a node, such as exec or log.
func (c *call) connect() error {
	query := c.r.URL.Query()
	if query.Has("dryRun") {
		return apierrors.NewBadRequest("dryRun is not supported")
	}
	err := c.store.Connect(c.r.Context(), c.Subresource, registry.ConnectRequest{
		Namespace: c.Namespace,
		Name:      c.Name,
		Path:      c.connectPath(),
		Query:     query,
		Method:    c.r.Method,
	})
	if err != nil {
		return err
	}
	// The only connection that succeeds without a node is the log of an unscheduled pod, which is
	// empty.
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// connectPath returns the path after the name of the subresource, with one slash at the end if the
// path of the URL has any.
func (c *call) connectPath() string {
	if strings.HasSuffix(c.r.URL.Path, "/") {
		return c.Rest + "/"
	}
	return c.Rest
}
