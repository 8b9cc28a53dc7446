package api

import (
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/registry"
)

// historySubresource is the subresource of every stored object that the test APIs add.
const historySubresource = "history"

// readsHistory reports whether the request is for the history of an object.
func (c *call) readsHistory() bool {
	return c.server.config.TestAPIs != nil && c.sub == nil && c.Subresource == historySubresource
}

// history handles a GET of the history of an object.
func (c *call) history() error {
	obj, err := c.server.config.TestAPIs.History(c.r.Context(), c.store, registry.ObjectName{
		Namespace: c.Namespace, Name: c.Name, Version: c.version.Name,
	})
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
