package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// call is one request to a resource, on its way through the handlers.
type call struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	request.Target
	verb     string // the action to take
	store    *registry.Store
	resource *registry.Resource
	version  registry.Version
	sub      *registry.Subresource // nil for the resource itself
	format   encoding.Format
	table    encoding.TableOptions // if the format is a Table
}

// action carries out a verb. What it returns is written as a Status; nil means
// that the answer has been given.
type action func(c *call) error

// actions are the verbs of resources and of their subresources.
var actions = map[string]action{
	"get":              (*call).get,
	"list":             (*call).list,
	"watch":            (*call).watch,
	"create":           (*call).create,
	"update":           (*call).update,
	"patch":            (*call).patch,
	"delete":           (*call).delete,
	"deletecollection": (*call).deleteCollection,
	"connect":          (*call).connect,
}

// shape is a form of path: it maps methods to verbs.
type shape map[string]string

var (
	collectionShape    = shape{http.MethodGet: "list", http.MethodPost: "create", http.MethodDelete: "deletecollection"}
	allNamespacesShape = shape{http.MethodGet: "list"}
	objectShape        = shape{http.MethodGet: "get", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}
	subresourceShape   = shape{http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}
	watchShape         = shape{http.MethodGet: "watch"}
)

// serveResource answers everything below a group and version.
func (s *Server) serveResource(w http.ResponseWriter, r *http.Request) {
	c, err := s.newCall(w, r)
	switch {
	case err != nil:
		s.responder.WriteError(w, r, err)
	case c == nil:
		http.NotFound(w, r)
	default:
		c.serve()
	}
}

// newCall finds what the request is about. Without a call and an error there is
// no such group and version. What is not found is looked for again in a catalog
// that is up to date.
func (s *Server) newCall(w http.ResponseWriter, r *http.Request) (*call, error) {
	c, err := s.findCall(w, r)
	if c == nil && s.config.Settle != nil {
		s.config.Settle(r.Context())
		c, err = s.findCall(w, r)
	}
	if err == nil && c != nil {
		err = c.findVerb()
	}
	return c, err
}

func (s *Server) findCall(w http.ResponseWriter, r *http.Request) (*call, error) {
	t := request.InfoFrom(r).Target
	snapshot := s.config.Catalog.Snapshot()
	if t.Form != request.ResourcePath || t.Empty || t.Prefix == "proxy" || !hasVersion(snapshot, t.Group, t.Version) {
		if strings.HasPrefix(r.URL.Path, "/api/") || t.Group != "" && isBuiltIn(snapshot, t.Group) {
			return nil, encoding.GenericError(http.StatusNotFound, "")
		}
		return nil, nil
	}
	if !t.InNamespace { // an object of the resource namespaces is at the cluster scope
		t.Namespace = ""
	}
	store, found := snapshot.Served(schema.GroupVersionResource{Group: t.Group, Version: t.Version, Resource: t.Resource})
	if !found {
		return nil, encoding.GenericError(http.StatusNotFound, "")
	}
	c := &call{server: s, w: w, r: r, Target: t, store: store, resource: store.Resource()}
	c.version, _ = c.resource.Version(t.Version)
	if t.Subresource != "" {
		if c.sub, found = c.resource.Subresource(t.Subresource); !found {
			return nil, encoding.GenericError(http.StatusNotFound, "")
		}
	}
	return c, nil
}

// isBuiltIn tells whether a group has kinds that are there in every server.
func isBuiltIn(snapshot *registry.Snapshot, group string) bool {
	return slices.ContainsFunc(snapshot.Groups, func(g registry.Group) bool { return g.Name == group && !g.Custom })
}

func hasVersion(snapshot *registry.Snapshot, group, version string) bool {
	return slices.ContainsFunc(snapshot.Groups, func(g registry.Group) bool {
		return g.Name == group && slices.Contains(g.Versions, version)
	})
}

// shape returns the form of the request's path, nil where the resource has no
// such path.
func (c *call) shape() shape {
	switch {
	case c.InNamespace && !c.resource.Namespaced:
		return nil
	case c.resource.Namespaced && !c.InNamespace && c.Name != "":
		return nil
	case c.Rest != "" && (c.sub == nil || c.sub.Connect == nil):
		return nil
	case c.Prefix == "watch" && c.sub == nil:
		return watchShape
	case c.Prefix != "":
		return nil
	case c.sub != nil:
		return subresourceShape
	case c.Name != "":
		return objectShape
	case c.resource.Namespaced && !c.InNamespace:
		return allNamespacesShape
	}
	return collectionShape
}

// findVerb sets the verb, or says why there is none: 404 if nothing can be done
// at this path, 405 if something else can.
func (c *call) findVerb() error {
	supported := c.resource.Verbs
	if c.sub != nil {
		supported = c.sub.Verbs
	}
	verb, ok := c.shape()[c.r.Method]
	if !ok || !slices.Contains(supported, verb) {
		return c.noVerb(supported)
	}
	c.verb = verb
	if verb == "list" { // or watch
		c.verb = request.InfoFrom(c.r).Verb
	}
	if c.sub != nil && c.sub.Connect != nil {
		c.verb = "connect"
	}
	return nil
}

func (c *call) noVerb(supported []string) error {
	possible := maps.Clone(c.shape())
	maps.DeleteFunc(possible, func(_, verb string) bool { return !slices.Contains(supported, verb) })
	if len(possible) == 0 {
		return encoding.GenericError(http.StatusNotFound, "")
	}
	methods := slices.Sorted(maps.Keys(possible))
	c.w.Header().Set("Allow", strings.Join(methods, ", "))
	return encoding.GenericError(http.StatusMethodNotAllowed, "")
}

// serve carries the call out.
func (c *call) serve() {
	cancel, err := c.setDeadline()
	if err == nil {
		defer cancel()
		err = c.act()
	}
	if err != nil {
		c.server.responder.WriteError(c.w, c.r, err)
	}
}

func (c *call) act() error {
	c.warnOfDeprecation()
	allowed := encoding.WithColumns
	switch {
	case !c.hasColumns():
		allowed = encoding.WithoutColumns
	case c.resource.Custom && c.resourceKind():
		allowed = encoding.CustomResources
	}
	negotiate := c.server.responder.Negotiate
	if c.verb == "watch" {
		negotiate = c.server.responder.NegotiateWatch
	}
	var err error
	if c.format, err = negotiate(c.r, allowed); err != nil {
		return err
	}
	if err := c.readTableOptions(); err != nil {
		return err
	}
	return actions[c.verb](c)
}
