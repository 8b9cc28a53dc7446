package api

import (
	"net/http"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/miniapi/miniapi/registry"
)

// accessOf says what a request wants, in the terms of authorization. It goes by
// the request alone: whether there is such a resource is not everybody's to
// know.
func accessOf(r *http.Request) registry.Access {
	t, ok := parseTarget(r.URL.Path)
	user := registry.UserFrom(r.Context())
	if !ok {
		return registry.Access{User: user, NonResource: &authorizationv1.NonResourceAttributes{
			Path: r.URL.Path, Verb: strings.ToLower(r.Method),
		}}
	}
	wanted := &authorizationv1.ResourceAttributes{
		Verb: accessVerb(r, t), Group: t.Group, Version: t.Version, Resource: t.Resource,
		Subresource: t.Subresource, Namespace: t.Namespace, Name: t.Name,
	}
	if t.Resource == "namespaces" && !t.InNamespace { // a namespace is in itself
		wanted.Namespace = t.Name
	}
	if wanted.Name == "" && (wanted.Verb == "list" || wanted.Verb == "watch") && !t.Watch {
		wanted.Name = selectedName(r)
	}
	return registry.Access{User: user, Resource: wanted}
}

// accessVerb knows no connect: what opens a stream counts by its method.
func accessVerb(r *http.Request, t target) string {
	if t.Watch {
		return "watch"
	}
	switch r.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if t.Name == "" {
			return "deletecollection"
		}
		return "delete"
	case http.MethodGet, http.MethodHead:
		switch {
		case t.Name != "":
			return "get"
		case wantsWatch(r):
			return "watch"
		}
		return "list"
	}
	return ""
}

// selectedName is the one object that a list is limited to, so that who may
// read that one may list and watch it.
func selectedName(r *http.Request) string {
	selector, err := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	if err != nil {
		return ""
	}
	name, ok := selector.RequiresExactMatch("metadata.name")
	if !ok || len(path.IsValidPathSegmentName(name)) > 0 {
		return ""
	}
	return name
}
