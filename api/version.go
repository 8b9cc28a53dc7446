package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/registry"
)

// kind of the bodies of this call: the resource's in the version asked for, or
// the subresource's own.
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

// resourceKind tells whether bodies are of the resource's own kind, and not of
// a subresource's, which has one version only.
func (c *call) resourceKind() bool { return c.sub == nil || c.sub.New == nil }

// columns are those of what the call shows: the resource, or a view of it.
func (c *call) columns() registry.Columns {
	if c.sub != nil && c.sub.View != nil {
		return c.sub.View.Columns
	}
	return c.resource.Columns
}

// hasColumns tells whether what the call shows can be shown as a Table.
func (c *call) hasColumns() bool {
	return c.resourceKind() || c.sub.View != nil && c.sub.View.Columns.Row != nil
}

// newBody returns a zero object of the version asked for.
func (c *call) newBody() runtime.Object {
	if c.resourceKind() {
		return c.version.New()
	}
	return c.sub.New()
}

// fromHub converts an object, which may be shared, to the version asked for.
func (c *call) fromHub(obj runtime.Object) (runtime.Object, error) {
	if !c.resourceKind() || c.version.FromHub == nil {
		return obj, nil
	}
	return c.version.FromHub(obj)
}

// toHub fills in defaults and converts an object of the version asked for.
func (c *call) toHub(obj runtime.Object) (runtime.Object, error) {
	if !c.resourceKind() {
		return obj, nil
	}
	if c.version.Default != nil {
		c.version.Default(obj)
	}
	if c.version.ToHub == nil {
		return obj, nil
	}
	return c.version.ToHub(obj)
}

// header is the type header of the bodies of this call.
func (c *call) header() metav1.TypeMeta { return encoding.TypeHeader(c.kind()) }
