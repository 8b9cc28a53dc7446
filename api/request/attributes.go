package request

import (
	"net/http"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/miniapi/miniapi/registry"
)

// AuthorizationAttributes returns the attributes of a request for its authorization. They depend
// on the request alone, so that the answer to a user without permission does not reveal whether
// the resource exists.
func AuthorizationAttributes(r *http.Request) registry.Access {
	info := InfoFrom(r)
	user := registry.UserFrom(r.Context())
	if info.Form != ResourcePath {
		return registry.Access{User: user, NonResource: &authorizationv1.NonResourceAttributes{Path: info.Path, Verb: info.Verb}}
	}
	resource := &authorizationv1.ResourceAttributes{
		Verb: info.Verb, Group: info.Group, Version: info.Version, Resource: info.Resource,
		Subresource: info.Subresource, Namespace: info.Namespace, Name: info.Name,
	}
	if resource.Name == "" {
		resource.Name = info.SelectedName
	}
	if selector := selectorOf(r, info.Verb, "fieldSelector"); selector != "" {
		resource.FieldSelector = &authorizationv1.FieldSelectorAttributes{RawSelector: selector}
	}
	if selector := selectorOf(r, info.Verb, "labelSelector"); selector != "" {
		resource.LabelSelector = &authorizationv1.LabelSelectorAttributes{RawSelector: selector}
	}
	return registry.Access{User: user, Resource: resource}
}

// selectorOf returns a selector, the parameter of the given name, of a request for a collection.
func selectorOf(r *http.Request, verb, parameter string) string {
	switch verb {
	case "list", "watch", "deletecollection":
		if strings.Contains(r.URL.RawQuery, parameter) {
			return r.URL.Query().Get(parameter)
		}
	}
	return ""
}
