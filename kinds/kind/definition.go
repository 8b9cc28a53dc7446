package kind

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// Definition is what has to be said about a kind. Zero members take the
// default named beside them.
type Definition struct {
	// GroupVersion of the hub, the version at rest.
	GroupVersion schema.GroupVersion
	// Object and List are zero objects of the hub's Go types. List is nil for
	// what cannot be listed.
	Object, List runtime.Object

	Resource    string   // plural, as in URLs
	Singular    string   // the kind in lower case
	ShortNames  []string // none
	Categories  []string // none
	Namespaced  bool
	StoragePath string   // Resource
	Verbs       []string // the eight that a stored resource has

	// JSON stores the kind as JSON, not as protobuf.
	JSON bool
	// Restore puts back, in an object that was read, what its encoding at rest
	// leaves out. Nil: nothing. A kind that has got new defaults since older
	// releases wrote it restores its defaults. It keeps what is read from being
	// passed on without decoding: kinds that come in large numbers do without.
	Restore func(obj runtime.Object)
	// Codec replaces the one that JSON chooses.
	Codec storage.Codec

	// Generation makes metadata.generation count the changes of the spec, or
	// whatever Changed reports.
	Generation bool
	// FromZero makes a new object's generation 0, not 1.
	FromZero bool
	// Changed tells whether generation rises. Nil compares the specs.
	Changed func(obj, old runtime.Object) bool
	// Status says that the kind has a subresource of that name.
	Status bool
	// StatusOnCreate lets a client send the status along when it creates.
	StatusOnCreate bool

	// Finalizers looks at the names of finalizers. Nil: what holds for all
	// objects.
	Finalizers func(obj metav1.Object) field.ErrorList

	// Strategy comes on top of the defaults: its Prepare functions run after
	// theirs, everything else replaces theirs. On an update the status is
	// shared with the old object, on a status write everything else is: what a
	// Prepare function wants to change below that, it must copy first.
	Strategy registry.Strategy
	// StatusStrategy does the same for writes of the status.
	StatusStrategy registry.UpdateStrategy

	// Default fills in what a client left out of an object that it writes. What
	// is read has been through it, see Restore. Nil: nothing.
	Default func(obj runtime.Object)
	// FieldLabel translates the labels of the hub version. Nil knows
	// metadata.name and metadata.namespace only.
	FieldLabel   func(label, value string) (hubLabel, hubValue string, err error)
	Fields       func(obj runtime.Object) fields.Set
	Columns      registry.Columns
	Metadata     func(metav1.ObjectMeta) metav1.ObjectMeta
	Subresources []registry.Subresource
	// MoreVersions are served behind the hub.
	MoreVersions []registry.Version
}

// Build returns the resource. It computes nothing that a first request could
// compute as well.
func (d Definition) Build() *registry.Resource {
	b := newBuilder(d)
	name := reflect.TypeOf(d.Object).Elem().Name()
	r := &registry.Resource{
		Group:        d.GroupVersion.Group,
		Name:         d.Resource,
		Singular:     cmp.Or(d.Singular, strings.ToLower(name)),
		Kind:         name,
		Namespaced:   d.Namespaced,
		ShortNames:   d.ShortNames,
		Categories:   d.Categories,
		Verbs:        d.Verbs,
		Versions:     d.versions(),
		StoragePath:  cmp.Or(d.StoragePath, d.Resource),
		Codec:        d.Codec,
		Strategy:     b.strategy(),
		Fields:       d.Fields,
		Columns:      d.Columns,
		Metadata:     d.Metadata,
		Subresources: b.subresources(name),
	}
	if r.Verbs == nil {
		r.Verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	}
	if r.Codec == nil {
		kind := d.GroupVersion.WithKind(name)
		r.Codec = &Codec{Kind: kind, New: d.Object.DeepCopyObject, JSON: d.JSON, Restore: d.Restore, Default: d.Default, More: d.MoreVersions}
	}
	return r
}

func (d Definition) versions() []registry.Version {
	hub := registry.Version{
		Name:       d.GroupVersion.Version,
		New:        d.Object.DeepCopyObject,
		Default:    d.Default,
		FieldLabel: d.FieldLabel,
	}
	if d.List != nil {
		hub.NewList = d.List.DeepCopyObject
	}
	return append([]registry.Version{hub}, d.MoreVersions...)
}

// subresources are in the order of discovery, by name.
func (b builder) subresources(kind string) []registry.Subresource {
	list := slices.Clone(b.Subresources)
	if b.Status {
		list = append(list, WriteSubresource("status", b.statusStrategy()))
	}
	for i := range list {
		if list[i].Kind.Empty() {
			list[i].Kind.Kind = kind
		}
	}
	slices.SortFunc(list, func(a, b registry.Subresource) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// WriteSubresource returns a subresource which reads the resource's own kind
// and writes it by rules of its own.
func WriteSubresource(name string, strategy registry.UpdateStrategy) registry.Subresource {
	return registry.Subresource{
		Name:   name,
		Verbs:  []string{"get", "patch", "update"},
		Update: &strategy,
	}
}
