package api

import (
	"net/http"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/miniapi/miniapi/registry"
)

// accessOf returns the attributes of a request for authorization. They follow from the request
// alone: a user without rights does not learn whether the resource exists.
func accessOf(r *http.Request) registry.Access {
	info := infoOf(r)
	user := registry.UserFrom(r.Context())
	if info.Form != resourcePath {
		return registry.Access{User: user, NonResource: &authorizationv1.NonResourceAttributes{Path: info.Path, Verb: info.Verb}}
	}
	wanted := &authorizationv1.ResourceAttributes{
		Verb: info.Verb, Group: info.Group, Version: info.Version, Resource: info.Resource,
		Subresource: info.Subresource, Namespace: info.Namespace, Name: info.Name,
	}
	if wanted.Name == "" {
		wanted.Name = info.SelectedName
	}
	return registry.Access{User: user, Resource: wanted}
}
