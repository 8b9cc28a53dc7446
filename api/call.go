package api

import (
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/audit"
	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// call is a request to a resource.
type call struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	request.Target
	verb     string // a key of actions
	store    registry.Interface
	resource *registry.Resource
	version  registry.Version
	sub      *registry.Subresource // nil for the resource itself
	format   encoding.Format
	table    encoding.TableOptions // if the format is a Table
	record   *request.Record       // nil: the request is not recorded
	audit    *audit.Event          // nil: the request is not in the audit log
	// kindError is the error of a body that is of another kind, nil for none.
	kindError error
	// manager is the field manager of a write, writeVerb the verb of a write if it is not verb.
	manager, writeVerb string
	// sentVersion is the resourceVersion in the body of a write, "" for none.
	sentVersion string
}

// kind returns the kind of the bodies of this call: of the resource in the requested version, or of
// the subresource.
func (c *call) kind() schema.GroupVersionKind {
	kind := schema.GroupVersionKind{Group: c.resource.Group, Version: c.version.Name, Kind: c.resource.Kind}
	if c.sub != nil && c.sub.Kind.Kind != "" {
		kind.Kind = c.sub.Kind.Kind
	}
	if c.sub != nil && c.sub.Kind.Version != "" {
		kind.Group, kind.Version = c.sub.Kind.Group, c.sub.Kind.Version
	}
	return kind
}

// resourceKind reports whether bodies have the kind of the resource. A subresource may have its own
// kind, which exists in one version only.
func (c *call) resourceKind() bool { return c.sub == nil || c.sub.New == nil }

// columns returns the table columns of the resource, or of the subresource's view.
func (c *call) columns() registry.Columns {
	if c.sub != nil && c.sub.View != nil {
		return c.sub.View.Columns
	}
	return c.resource.Columns
}

// hasColumns reports whether the response can be a Table. The answer to a review cannot.
func (c *call) hasColumns() bool {
	if c.resourceKind() {
		return slices.Contains(c.resource.Verbs, "get")
	}
	return c.sub.View != nil && c.sub.View.Columns.Row != nil
}

// newBody returns an empty object of the requested version.
func (c *call) newBody() runtime.Object {
	if c.resourceKind() {
		return c.version.New()
	}
	return c.sub.New()
}

// fromHub converts an object of the hub version, which may be shared, to the requested version.
func (c *call) fromHub(obj runtime.Object) (runtime.Object, error) {
	if !c.resourceKind() || c.version.FromHub == nil {
		return obj, nil
	}
	return c.version.FromHub(obj)
}

// toHub sets defaults in an object of the requested version and converts it to the hub version.
func (c *call) toHub(obj runtime.Object) (runtime.Object, error) {
	if !c.resourceKind() {
		if c.sub.Default != nil {
			c.sub.Default(obj)
		}
		return obj, nil
	}
	c.version.SetDefaults(obj, c.server.config.Catalog.Now)
	if c.version.ToHub == nil {
		return obj, nil
	}
	return c.version.ToHub(obj)
}

// header returns the type header of the bodies of this call.
func (c *call) header() metav1.TypeMeta { return encoding.TypeHeader(c.kind()) }
