package api

import (
	"context"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/registry"
)

// The subresources of every stored object that the test APIs add.
const (
	historySubresource = "history"
	blameSubresource   = "blame"
)

// namespaceSubresources returns the subresources of namespaces that the test APIs add. Their paths
// have the form of a resource in a namespace.
func (s *Server) namespaceSubresources() []string {
	if s.config.TestAPIs == nil {
		return nil
	}
	return []string{historySubresource, blameSubresource}
}

// readsHistory reports whether the request is for the history or the blame of an object.
func (c *call) readsHistory() bool {
	return c.server.config.TestAPIs != nil && c.sub == nil &&
		(c.Subresource == historySubresource || c.Subresource == blameSubresource)
}

// history handles a GET of the history of an object.
func (c *call) history() error { return c.sendHistory(c.server.config.TestAPIs.History) }

// blame handles a GET of the blame of an object.
func (c *call) blame() error { return c.sendHistory(c.server.config.TestAPIs.Blame) }

// sendHistory sends the result of read for the object of the request.
func (c *call) sendHistory(read func(context.Context, registry.Interface, registry.ObjectName) (runtime.Object, error)) error {
	obj, err := read(c.r.Context(), c.store, registry.ObjectName{Namespace: c.Namespace, Name: c.Name, Version: c.version.Name})
	if err != nil {
		return err
	}
	body, err := c.format.Encode(obj)
	if err != nil {
		return err
	}
	header := encoding.TypeHeader(obj.GetObjectKind().GroupVersionKind())
	return c.send(encoding.Object{Status: http.StatusOK, Header: header, Body: body})
}

// exactRevision returns the revision of a get with resourceVersionMatch=Exact, which the test APIs
// support as for a list, and 0 for any other get.
func (c *call) exactRevision(options metav1.GetOptions) (int64, error) {
	if c.server.config.TestAPIs == nil || c.r.URL.Query().Get("resourceVersionMatch") != string(metav1.ResourceVersionMatchExact) {
		return 0, nil
	}
	revision, err := strconv.ParseInt(options.ResourceVersion, 10, 64)
	if err != nil || revision <= 0 {
		return 0, apierrors.NewBadRequest("resourceVersionMatch=Exact requires a resourceVersion")
	}
	return revision, nil
}
