package registry

import (
	"context"

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
//
// Invariant: it does not change once it is in a catalog, and may be shared by
// all servers of a process.
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
	// Versions that are served, the preferred one first. At least one.
	Versions []Version

	// Defines says that objects define resources: a write of one is answered when
	// the catalog is in step with it.
	Defines bool
	// Custom is set for what a CustomResourceDefinition defines. There is a
	// Resource for each version, with rules of its own, which is its own hub.
	// Objects are unstructured, without apiVersion and kind.
	Custom bool
	// StorageVersion is the one that objects are stored in, "" for the hub.
	StorageVersion string

	// Related are versions of a custom resource that other Resources serve, or
	// nobody does. Objects may have field managers that wrote them.
	Related []Version

	// StoragePath is the path of the keys, such as "pods" or "services/specs".
	StoragePath string
	// HubKind is the kind that errors about an object name, where the hub is of
	// another group than the resource. Nil: the resource's own.
	HubKind *schema.GroupKind
	// Codec reads and writes the hub version at rest. It is comparable: resources
	// with the same path and codec share what is cached of them.
	Codec    storage.Codec
	Strategy Strategy
	// Fields returns what the object can be selected by, beyond metadata.name
	// and metadata.namespace. Nil: nothing.
	Fields func(obj runtime.Object) fields.Set
	// Columns of the Table representation.
	Columns Columns
	// Metadata returns what is shown of an object's metadata to who asks for them
	// alone. It may share memory with its argument. Nil: all of them.
	Metadata     func(metav1.ObjectMeta) metav1.ObjectMeta
	Subresources []Subresource
	// Types knows how the fields of objects belong together. Nil: the catalog's
	// does.
	Types func() (managedfields.TypeConverter, error)

	// Virtual is set for resources which are computed and never stored, such
	// as reviews; StoragePath, Codec and Strategy are then unused.
	Virtual *Virtual
}

// Version is one served version of a resource.
type Version struct {
	Name string // "v1"
	// New and NewList return zero objects of the version's Go types.
	New, NewList func() runtime.Object
	// ToHub and FromHub convert between this version and the hub. Nil: this
	// version is the hub. They must not write to their argument; the result
	// may share memory with it.
	ToHub, FromHub func(obj runtime.Object) (runtime.Object, error)
	// Prune drops the fields that the version does not have from a decoded object,
	// and returns their paths. Nil: decoding does that.
	Prune func(obj runtime.Object) (unknown []string, err error)
	// Default fills in what a client left out of a decoded object. Nil: nothing.
	Default func(obj runtime.Object)
	// Model describes the objects in OpenAPI, of version 2 or 3. Nil: their Go type
	// does.
	Model func(v2 bool) (*spec.Schema, error)
	// Deprecated is what clients of the version are warned of. "": what its Go
	// type says.
	Deprecated string
	// FieldLabel translates a field selector's label and value of this version
	// to the hub's, or refuses it. Nil knows metadata.name and
	// metadata.namespace only.
	FieldLabel func(label, value string) (hubLabel, hubValue string, err error)
}

// Columns is how a resource looks as a Table. The zero value gives the name
// and the time of creation.
type Columns struct {
	Definitions []metav1.TableColumnDefinition
	// Row returns one cell a definition, and the row's conditions if it has any.
	Row func(obj runtime.Object) (cells []any, conditions []metav1.TableRowCondition)
	// Compare puts the rows of a list into an order. Nil: that of the list.
	Compare func(a, b runtime.Object) int
}

// Subresource is a part or an action of a resource. Exactly one of Update,
// View, Create and Connect says how it works.
type Subresource struct {
	Name  string
	Verbs []string
	// Kind of the request's body. Group and version are empty where the
	// resource's own are meant.
	Kind schema.GroupVersionKind
	// New returns a zero body; nil where the body is the resource's own kind.
	New func() runtime.Object

	// Update has rules of its own for a write of the resource's own kind, as
	// in status.
	Update *UpdateStrategy
	// View is another kind computed from the object and written back into it,
	// as in scale.
	View *View
	// Create carries out a POST, as in binding, eviction and token. With it,
	// Update may be set too: it holds for what Create writes to the object
	// through Store.Update under the subresource's name.
	Create func(ctx context.Context, store *Store, req CreateRequest) (runtime.Object, error)
	// Connect answers for what needs a node behind it, as in exec and proxy.
	Connect func(ctx context.Context, store *Store, req ConnectRequest) error
}

// View is a projection of an object that can be written back.
type View struct {
	FromObject func(obj runtime.Object) (runtime.Object, error)
	// ToObject writes the view into obj, which is a copy.
	ToObject func(view, obj runtime.Object) error
	// Validate looks at a view a client sent. Nil: anything goes.
	Validate func(view runtime.Object) error
	// Replicas is where the object keeps what the view calls spec.replicas.
	Replicas fieldpath.Path
	// Columns of the view's Table representation.
	Columns Columns
}

// Virtual carries out the verbs of a resource that is not stored. Nil members
// are not supported.
type Virtual struct {
	Create func(ctx context.Context, catalog *Catalog, req CreateRequest) (runtime.Object, error)
	Get    func(ctx context.Context, catalog *Catalog, name string) (runtime.Object, error)
	List   func(ctx context.Context, catalog *Catalog) ([]runtime.Object, error)
}

// GroupResource names the resource.
func (r *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Name}
}

// GroupKind names the kind.
func (r *Resource) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: r.Group, Kind: r.Kind}
}

// hubKind is the kind that errors about an object name.
func (r *Resource) hubKind() schema.GroupKind {
	if r.HubKind != nil {
		return *r.HubKind
	}
	return r.GroupKind()
}

// newHub returns a zero object of the hub's type, nil if no served version is
// the hub.
func (r *Resource) newHub() runtime.Object {
	for _, v := range r.Versions {
		if v.ToHub == nil {
			return v.New()
		}
	}
	return nil
}

// Version finds a served version by name.
func (r *Resource) Version(name string) (Version, bool) {
	for _, v := range r.Versions {
		if v.Name == name {
			return v, true
		}
	}
	return Version{}, false
}

// Subresource finds a subresource by name.
func (r *Resource) Subresource(name string) (*Subresource, bool) {
	for i := range r.Subresources {
		if r.Subresources[i].Name == name {
			return &r.Subresources[i], true
		}
	}
	return nil, false
}
