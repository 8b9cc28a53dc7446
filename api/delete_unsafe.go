package api

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// unsafeVerb is the verb that a user needs in addition to delete in order to delete an object
// that cannot be decoded.
const unsafeVerb = "unsafe-delete-ignore-read-errors"

// isUnsafe reports whether options request the deletion of an object that cannot be decoded.
func isUnsafe(options *metav1.DeleteOptions) bool {
	return ptr.Deref(options.IgnoreStoreReadErrorWithClusterBreakingPotential, false)
}

// unsafeConflict returns the 422 for the option in a request that does not support it.
func unsafeConflict(text string) error {
	path := field.NewPath("ignoreStoreReadErrorWithClusterBreakingPotential")
	return invalidOptions("DeleteOptions", field.ErrorList{field.Invalid(path, true, text)})
}

// unsafeDelete handles a DELETE of an object that cannot be decoded.
func (c *call) unsafeDelete() error {
	if err := c.authorizeUnsafeDelete(); err != nil {
		return err
	}
	err := c.store.UnsafeDelete(c.writeContext(), registry.DeleteRequest{
		Namespace: c.Namespace, Name: c.Name, Version: c.version.Name,
	})
	if err != nil {
		return err
	}
	c.syncCatalog()
	return c.respond(http.StatusOK, &metav1.Status{
		Status:  metav1.StatusSuccess,
		Code:    http.StatusOK,
		Details: &metav1.StatusDetails{Name: c.Name, Kind: c.resource.Kind},
	})
}

// authorizeUnsafeDelete returns a 403 if the user may not delete corrupt objects.
func (c *call) authorizeUnsafeDelete() error {
	access := request.AuthorizationAttributes(c.r)
	access.Resource.Verb = unsafeVerb
	decision, err := c.server.config.Catalog.Authorizer().Authorize(c.r.Context(), access)
	switch {
	case err != nil:
		err = fmt.Errorf("error while checking permission for %q, %w", unsafeVerb, err)
	case decision.Allowed:
		return nil
	default:
		err = fmt.Errorf("not permitted to do %q, reason: %s", unsafeVerb, decision.Reason)
	}
	return apierrors.NewForbidden(c.resource.GroupResource(), c.Name, err)
}
