package registry

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/miniapi/miniapi/storage"
)

// Resource describes a resource.
type Resource struct {
	Group      string
	Name       string // plural, as in URLs
	Singular   string
	Kind       string
	ListKind   string // "" for the kind with List behind it
	Namespaced bool
	ShortNames []string
	Categories []string
	Verbs      []string // in alphabetical order
	// Versions are the served versions, the preferred one first. At least one.
	Versions []Version

	// Defines is set if the objects define resources: the response to a write is sent after the
	// catalog has changed.
	Defines bool
	// Custom is set for a resource of a CustomResourceDefinition. Each version is a Resource of
	// its own with its own rules and hub. Objects are unstructured, without apiVersion and kind.
	Custom bool
	// StorageVersion is the version of the stored objects, "" for the hub.
	StorageVersion string

	// Related are the other versions of a custom resource, served or not. They occur as versions
	// of field managers. Nil: there are none.
	Related func() []Version

	// StoragePath is the path of the keys, such as "pods" or "services/specs".
	StoragePath string
	// HubKind is the kind in errors, if the hub belongs to another group than the resource. Nil:
	// the kind of the resource.
	HubKind *schema.GroupKind
	// Codec encodes the hub version. It is comparable: resources with the same path and codec
	// share their cached objects.
	Codec    storage.Codec
	Strategy Strategy
	// Fields returns the selectable fields of an object other than metadata.name and
	// metadata.namespace. Nil: none.
	Fields func(obj runtime.Object) fields.Set
	// Columns of the Table representation.
	Columns Columns
	// Metadata returns the metadata for a request for metadata only. The result may share memory
	// with the argument. Nil: unchanged.
	Metadata     func(metav1.ObjectMeta) metav1.ObjectMeta
	Subresources []Subresource
	// Types returns the schema of the objects. Nil: the schemas of the catalog.
	Types func() (managedfields.TypeConverter, error)

	// Storage stores the objects. Nil: the storage of the catalog, with its wrappers and its cache.
	Storage storage.Interface

	// Virtual is set for resources that are computed and not stored, such as reviews.
	// StoragePath, Codec and Strategy are then unused.
	Virtual *Virtual
}

// Version is one served version of a resource.
type Version struct {
	Name string // "v1"
	// New and NewList return zero objects of the Go types of the version.
	New, NewList func() runtime.Object
	// ToHub and FromHub convert between this version and the hub. Nil: this version is the hub.
	// They must not modify their argument; the result may share memory with it.
	ToHub, FromHub func(obj runtime.Object) (runtime.Object, error)
	// Prune removes unknown fields from a decoded object and returns their paths. Nil: decoding
	// removes them.
	Prune func(obj runtime.Object) (unknown []string, err error)
	// Default sets the defaults of a decoded object. Nil: no defaults.
	Default func(obj runtime.Object)
	// DefaultTimes sets the times of a decoded object that default to the present. Nil: none.
	DefaultTimes func(obj runtime.Object, now metav1.Time)
	// Model returns the OpenAPI schema, of version 2 or 3. Nil: the schema of the Go type.
	Model func(v2 bool) (*spec.Schema, error)
	// Deprecated is the deprecation warning of the version. "": the warning of the Go type.
	Deprecated string
	// FieldLabel converts the label and value of a field selector to the hub version, or returns
	// an error. Nil supports metadata.name and metadata.namespace only.
	FieldLabel func(label, value string) (hubLabel, hubValue string, err error)
}

// SetDefaults sets the defaults of a decoded object. now returns the time of the API.
func (v *Version) SetDefaults(obj runtime.Object, now func() time.Time) {
	if v.Default != nil {
		v.Default(obj)
	}
	if v.DefaultTimes != nil {
		v.DefaultTimes(obj, metav1.NewTime(now()))
	}
}

// Columns defines the Table of a resource. The zero value has the name and the creation time.
type Columns struct {
	Definitions []metav1.TableColumnDefinition
	// Row returns one cell for each definition, and the conditions of the row.
	Row func(obj runtime.Object) (cells []any, conditions []metav1.TableRowCondition)
	// Compare orders the rows of a list. Nil: the order of the list.
	Compare func(a, b runtime.Object) int
	// InList returns the columns of a list, whose cells depend on the other objects. Nil: the same
	// columns.
	InList func(list []runtime.Object) Columns
}

// Subresource is a part or an action of a resource. Exactly one of Update, View, Create and
// Connect defines it, except that Create and Update may occur together.
type Subresource struct {
	Name  string
	Verbs []string
	// Kind is the kind of the body. Empty group and version: the group and version of
	// the resource.
	Kind schema.GroupVersionKind
	// New returns a zero body; nil if the body is of the kind of the resource.
	New func() runtime.Object
	// MoreVersions are other versions of Kind with the same fields, which bodies may have.
	MoreVersions []schema.GroupVersion
	// Default sets the defaults of a decoded body of New. Nil: no defaults.
	Default func(obj runtime.Object)

	// Update is the strategy for writes of the kind of the resource, as in status.
	Update *UpdateStrategy
	// View is another kind that is computed from the object and written to it, as in scale.
	View *View
	// Create executes a POST, as in binding, eviction and token. It calls Validate of the request.
	// If Update is set too, it applies to the writes of Create through Store.Update under the name
	// of the subresource.
	Create func(ctx context.Context, store *Store, req ActionRequest) (runtime.Object, error)
	// Connect opens a connection to a node, as in exec and proxy.
	Connect func(ctx context.Context, store *Store, req ConnectRequest) error
}

// View is a projection of an object that can be written back.
type View struct {
	FromObject func(obj runtime.Object) (runtime.Object, error)
	// Read is FromObject for a read, and Base for the proposal of a write. Nil: FromObject.
	Read, Base func(obj runtime.Object) (runtime.Object, error)
	// ToObject writes the view to obj, which is a copy.
	ToObject func(view, obj runtime.Object) error
	// Validate validates the view of a request. Nil: all views are valid.
	Validate func(view runtime.Object) error
	// Replicas returns the path of the field spec.replicas of the view in the objects of a version,
	// nil if the version has no such view. Nil: the view has no managed fields.
	Replicas func(version string) fieldpath.Path
	// Columns of the Table of the view.
	Columns Columns
}

// Virtual implements the verbs of a resource that is not stored. Nil functions are unsupported.
type Virtual struct {
	// Create executes a POST. It calls Validate of the request.
	Create func(ctx context.Context, catalog *Catalog, req ActionRequest) (runtime.Object, error)
	Get    func(ctx context.Context, catalog *Catalog, name string) (runtime.Object, error)
	List   func(ctx context.Context, catalog *Catalog) ([]runtime.Object, error)
	// Feed serves get, list and watch. Get and List are then unused.
	Feed Feed
}

// GroupResource returns the group and the name of the resource.
func (r *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Name}
}

// GroupKind returns the group and the kind of the resource.
func (r *Resource) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: r.Group, Kind: r.Kind}
}

// hubKind returns the kind in errors about an object.
func (r *Resource) hubKind() schema.GroupKind {
	if r.HubKind != nil {
		return *r.HubKind
	}
	return r.GroupKind()
}

// emptyObject returns an empty object of the hub type.
func (r *Resource) emptyObject() (runtime.Object, error) {
	if empty := r.Strategy.Delete.Empty; empty != nil {
		return empty(), nil
	}
	v := r.Versions[0]
	if v.ToHub == nil {
		return v.New(), nil
	}
	return v.ToHub(v.New())
}

// Version returns a served version by name.
func (r *Resource) Version(name string) (Version, bool) {
	for _, v := range r.Versions {
		if v.Name == name {
			return v, true
		}
	}
	return Version{}, false
}

// allVersions returns the served and the related versions.
func (r *Resource) allVersions() []Version {
	if r.Related == nil {
		return r.Versions
	}
	return slices.Concat(r.Versions, r.Related())
}

// Subresource returns a subresource by name.
func (r *Resource) Subresource(name string) (*Subresource, bool) {
	for i := range r.Subresources {
		if r.Subresources[i].Name == name {
			return &r.Subresources[i], true
		}
	}
	return nil, false
}
