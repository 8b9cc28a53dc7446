package api

import (
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/registry"
)

// authorize asks whether the user may do this; if not, that is a 403.
func (c *call) authorize() error {
	user := registry.UserFrom(c.r.Context())
	if user == nil {
		user = &authenticationv1.UserInfo{}
	}
	namespace := c.Namespace
	if c.Group == "" && c.Resource == "namespaces" {
		namespace = c.Name
	}
	decision, err := c.server.config.Catalog.Authorizer().Authorize(c.r.Context(), registry.Access{
		User: user,
		Resource: &authorizationv1.ResourceAttributes{
			Verb: c.access, Group: c.Group, Version: c.Version, Resource: c.Resource,
			Subresource: c.Subresource, Namespace: namespace, Name: c.Name,
		},
	})
	if err == nil && decision.Allowed {
		return nil
	}
	resource := c.Resource
	if c.Subresource != "" {
		resource += "/" + c.Subresource
	}
	where := "at the cluster scope"
	if namespace != "" {
		where = fmt.Sprintf("in the namespace %q", namespace)
	}
	text := fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", user.Username, c.access, resource, c.Group, where)
	if decision.Reason != "" {
		text += ": " + decision.Reason
	}
	if err != nil {
		text += ": " + err.Error()
	}
	return apierrors.NewForbidden(c.resource.GroupResource(), c.Name, errors.New(text))
}
