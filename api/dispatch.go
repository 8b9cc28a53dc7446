package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// actions are the handlers of the verbs. A handler sends a response or returns an error.
var actions = map[string]func(*call) error{
	"get":              (*call).get,
	"list":             (*call).list,
	"watch":            (*call).watch,
	"create":           (*call).create,
	"update":           (*call).update,
	"patch":            (*call).patch,
	"delete":           (*call).delete,
	"deletecollection": (*call).deleteCollection,
	"connect":          (*call).connect,
	historySubresource: (*call).history,
	blameSubresource:   (*call).blame,
}

// methodVerbs maps the HTTP methods of a path to verbs.
type methodVerbs map[string]string

var (
	collectionVerbs    = methodVerbs{http.MethodGet: "list", http.MethodPost: "create", http.MethodDelete: "deletecollection"}
	allNamespacesVerbs = methodVerbs{http.MethodGet: "list"}
	objectVerbs        = methodVerbs{http.MethodGet: "get", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}
	subresourceVerbs   = methodVerbs{http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}
	watchVerbs         = methodVerbs{http.MethodGet: "watch"}
)

// serveResource handles requests for resources.
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

// newCall returns the call of a request, nil without an error for an unknown group or version and
// for a path that no custom resource has. If the resource is not found, it syncs the catalog and
// searches again.
func (s *Server) newCall(w http.ResponseWriter, r *http.Request) (*call, error) {
	c, err := s.findCall(w, r)
	if c == nil && s.config.Sync != nil {
		s.config.Sync(r.Context())
		c, err = s.findCall(w, r)
	}
	switch {
	case err != nil || c == nil:
		return c, err
	case c.isOutOfScope():
		return nil, nil
	}
	return c, c.findVerb()
}

// isOutOfScope reports whether the path of a custom resource has no namespace and needs one, or the
// other way round. A list or watch needs none.
func (c *call) isOutOfScope() bool {
	if !c.resource.Custom || c.resource.Namespaced == c.InNamespace {
		return false
	}
	reads := c.r.Method == http.MethodGet || c.r.Method == http.MethodHead
	return c.InNamespace || c.Name != "" || !reads
}

// findCall returns the call of a request to a resource of the current catalog.
func (s *Server) findCall(w http.ResponseWriter, r *http.Request) (*call, error) {
	info := request.InfoFrom(r)
	t, snapshot := info.Target, s.config.Catalog.Snapshot()
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
	if !found && !isBuiltIn(snapshot, t.Group) {
		return nil, nil
	}
	if !found {
		return nil, encoding.GenericError(http.StatusNotFound, "")
	}
	c := &call{server: s, w: w, r: r, Target: t, store: store, resource: store.Resource(), record: info.Record, audit: info.Audit}
	c.version, _ = c.resource.Version(t.Version)
	if t.Subresource != "" {
		if c.sub, found = c.resource.Subresource(t.Subresource); !found && !c.readsHistory() {
			return nil, c.missingSubresource()
		}
	}
	return c, nil
}

// missingSubresource returns the 404 of kube-apiserver. For a custom resource it names the object,
// and a deprecated version is a warning.
func (c *call) missingSubresource() error {
	if c.resource.Custom {
		if c.version.Deprecated != "" {
			registry.AddWarning(c.r.Context(), c.version.Deprecated)
		}
		return apierrors.NewNotFound(c.resource.GroupResource(), c.Name)
	}
	return encoding.GenericError(http.StatusNotFound, "")
}

// isBuiltIn reports whether a group contains built-in kinds.
func isBuiltIn(snapshot *registry.Snapshot, group string) bool {
	return slices.ContainsFunc(snapshot.Groups, func(g registry.Group) bool { return g.Name == group && !g.Custom })
}

func hasVersion(snapshot *registry.Snapshot, group, version string) bool {
	return slices.ContainsFunc(snapshot.Groups, func(g registry.Group) bool {
		return g.Name == group && slices.Contains(g.Versions, version)
	})
}

// pathVerbs returns the verbs of the request's path, nil if the resource has no such path.
func (c *call) pathVerbs() methodVerbs {
	switch {
	case c.InNamespace && !c.resource.Namespaced:
		return nil
	case c.resource.Namespaced && !c.InNamespace && c.Name != "":
		return nil
	case c.Rest != "" && (c.sub == nil || c.sub.Connect == nil):
		return nil
	case c.Prefix == "watch" && c.sub == nil:
		return watchVerbs
	case c.Prefix != "":
		return nil
	case c.sub != nil:
		return subresourceVerbs
	case c.Name != "":
		return objectVerbs
	case c.resource.Namespaced && !c.InNamespace:
		return allNamespacesVerbs
	}
	return collectionVerbs
}

// findVerb sets the verb of the call. It returns a 405 if the path supports other methods only, a
// 404 if it supports none.
func (c *call) findVerb() error {
	supported := c.resource.Verbs
	if c.readsHistory() {
		supported = []string{"get"}
	}
	if c.sub != nil {
		supported = c.sub.Verbs
	}
	verb, ok := c.pathVerbs()[c.r.Method]
	if !ok || !slices.Contains(supported, verb) {
		return c.unsupportedMethod(supported)
	}
	c.verb = verb
	if verb == "list" { // or watch
		c.verb = request.InfoFrom(c.r).Verb
	}
	if c.sub != nil && c.sub.Connect != nil {
		c.verb = "connect"
	}
	if c.readsHistory() {
		c.verb = c.Subresource
	}
	return nil
}

// unsupportedMethod returns the error of a method without a verb.
func (c *call) unsupportedMethod(supported []string) error {
	verbs := maps.Clone(c.pathVerbs())
	maps.DeleteFunc(verbs, func(_, verb string) bool { return !slices.Contains(supported, verb) })
	if len(verbs) == 0 {
		return encoding.GenericError(http.StatusNotFound, "")
	}
	methods := slices.Sorted(maps.Keys(verbs))
	c.w.Header().Set("Allow", strings.Join(methods, ", "))
	if c.resource.Custom && c.sub != nil {
		return apierrors.NewMethodNotSupported(c.resource.GroupResource(), request.InfoFrom(c.r).Verb)
	}
	return encoding.GenericError(http.StatusMethodNotAllowed, "")
}

// serve handles the call and sends errors.
func (c *call) serve() {
	cancel, err := c.setDeadline()
	if err == nil {
		defer cancel()
		err = c.handle()
	}
	if err != nil {
		c.server.responder.WriteError(c.w, c.r, err)
	}
}

// checkAccept rejects Accept headers as the router of kube-apiserver does. It does not route
// requests for custom resources, and connections have other content types.
func (c *call) checkAccept() error {
	switch {
	case c.resource.Custom || c.verb == "connect" || c.readsHistory():
		return nil
	case c.verb == "watch" || c.verb == "list" && slices.Contains(c.resource.Verbs, "watch"):
		return c.server.responder.CheckAcceptWatch(c.r)
	}
	return c.server.responder.CheckAccept(c.r)
}

// handle negotiates the format of the response and calls the handler of the verb.
func (c *call) handle() error {
	c.warnOfDeprecation()
	allowed := encoding.WithColumns
	switch {
	case c.readsHistory():
		allowed = encoding.CustomResources // an object without a Go type
	case !c.hasColumns():
		allowed = encoding.WithoutColumns
	case c.resource.Custom && c.resourceKind():
		allowed = encoding.CustomResources
	}
	if err := c.checkAccept(); err != nil {
		return err
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
