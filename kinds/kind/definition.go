package kind

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// Object is the constraint of a kind's Go type, a pointer such as *corev1.Pod.
type Object interface {
	runtime.Object
	metav1.Object
}

// Definition describes one kind, whose hub version has the Go type T. Fields with zero values take
// the default named beside them; nil functions do nothing. The functions follow the contract of
// registry.Strategy: they may run several times for one request, on copies.
//
// On an update obj shares the status of old, and on a write of the status everything else: a
// function that changes something below that copies it first.
type Definition[T Object] struct {
	// GroupVersion of the hub, the version at rest.
	GroupVersion schema.GroupVersion
	// Object and List are zero objects of the hub's Go types. List is nil for kinds that cannot be
	// listed.
	Object T
	List   runtime.Object

	Resource    string   // plural, as in URLs
	Singular    string   // the kind in lower case
	ShortNames  []string // none
	Categories  []string // none
	Namespaced  bool
	StoragePath string   // Resource
	Verbs       []string // the eight verbs of a stored resource

	// Gate serves the kind only while it is enabled. Releases before the one that introduced the Go
	// type do not serve it.
	Gate feature.Gate
	// GatedFields are dropped from creates and updates, of the status too, while their gates are
	// disabled.
	GatedFields GatedFields

	// StorageVersion is the version that stored objects name, if it is not the hub's. It must have
	// the protobuf encoding of the hub.
	StorageVersion string
	// JSON stores the kind as JSON, not as protobuf.
	JSON bool
	// Codec replaces the codec that JSON chooses.
	Codec storage.Codec
	// Default sets the defaults of an object that a client sends.
	Default func(obj T)
	// DefaultTimes sets the times that default to the present in an object that a client sends.
	DefaultTimes func(obj T, now metav1.Time)
	// Restore sets, in an object that was read, the fields that its encoding at rest leaves out,
	// such as defaults that older releases did not store. Kinds with many objects do without: it
	// prevents stored bytes from being served without decoding.
	Restore func(obj T)
	// MoreVersions are served behind the hub.
	MoreVersions []registry.Version

	// Generation makes metadata.generation count the changes of the spec.
	Generation bool
	// FromZero makes a new object's generation 0, not 1.
	FromZero bool
	// Changed reports whether an update increments the generation. Nil compares the specs.
	Changed func(obj, old T) bool

	// UnqualifiedFinalizers accepts finalizers whose names have no domain. All other kinds reject
	// them in creates, updates and, if ValidateStatusUpdate is set, writes of the status. Their
	// errors precede the errors of the functions below.
	UnqualifiedFinalizers bool

	// ValidateName is validation.NameIsDNSSubdomain if nil.
	ValidateName validation.ValidateNameFunc
	// MetadataLast and GenerateName are the fields of registry.CreateStrategy.
	MetadataLast bool
	GenerateName func(base string) string
	// GenerateNameOnUpdate validates metadata.generateName by ValidateName in updates, too. Without
	// it, updates accept any path segment.
	GenerateNameOnUpdate bool
	// Validate and Warnings apply to creates and updates that have no function of their own below.
	Validate func(obj T) field.ErrorList
	Warnings func(obj T) []string
	// Canonicalize brings an object into its stored form, after validation.
	Canonicalize func(obj T)
	// TTL is the lifetime of an object after its last write. 0 is unlimited.
	TTL time.Duration

	// PrepareForCreate sets and clears the fields that clients do not decide, after the status has
	// been cleared and the generation been set.
	PrepareForCreate func(ctx context.Context, obj T)
	ValidateCreate   func(obj T) field.ErrorList
	WarningsOnCreate func(obj T) []string

	AllowCreateOnUpdate      bool
	AllowUnconditionalUpdate bool
	// PrepareForUpdate restores the fields that an update does not change, before generations are
	// compared.
	PrepareForUpdate func(ctx context.Context, obj, old T)
	ValidateUpdate   func(obj, old T) field.ErrorList
	WarningsOnUpdate func(obj, old T) []string
	// Owns selects the fields that a client comes to own by a create or an update. Nil: all but the
	// status.
	Owns fieldpath.Filter

	// Status adds the subresource of that name.
	Status bool
	// StatusOnCreate keeps the status that a client sends with a create.
	StatusOnCreate bool
	// StatusKeepsMetadata restores metadata on a write of the status.
	StatusKeepsMetadata    bool
	PrepareForStatusUpdate func(ctx context.Context, obj, old T)
	ValidateStatusUpdate   func(obj, old T) field.ErrorList
	WarningsOnStatusUpdate func(obj T) []string
	// StatusOwns is Owns for a write of the status. Nil: all but the spec, and without metadata if
	// StatusKeepsMetadata is set.
	StatusOwns fieldpath.Filter

	// GracePeriod, HoldsDeletion and MarkDeleted are the members GracePeriod, Holds and Mark of
	// registry.DeleteStrategy.
	GracePeriod   func(obj T, opts *metav1.DeleteOptions) *int64
	HoldsDeletion func(obj T) bool
	MarkDeleted   func(obj T, opts *metav1.DeleteOptions)
	ForbidDelete  func(obj T) error
	// Empty returns the empty object that kube-apiserver converts from its internal type, for kinds
	// whose internal type cannot represent unset fields. Nil: Object.
	Empty               func() T
	WarningsOnDelete    func(opts *metav1.DeleteOptions) []string
	ReturnDeletedObject bool
	// DefaultPropagation is Background if empty.
	DefaultPropagation metav1.DeletionPropagation
	// NoDependents is set for kinds that own no objects.
	NoDependents bool

	// FieldLabel translates the labels of the hub version. Nil supports metadata.name and
	// metadata.namespace only.
	FieldLabel func(label, value string) (hubLabel, hubValue string, err error)
	Fields     func(obj T) fields.Set

	// Columns of the kind's Table. None: the name and the time of creation.
	Columns       []Column[T]
	RowConditions func(obj T) []metav1.TableRowCondition
	// ColumnsInList returns the columns of a list with other cells, which depend on all objects of
	// the list. Nil: Columns.
	ColumnsInList func(list []T) []Column[T]
	// CompareRows orders the rows of a list. Nil: the order of the list.
	CompareRows func(a, b T) int

	Metadata     func(metav1.ObjectMeta) metav1.ObjectMeta
	Subresources []registry.Subresource
}

// Build returns the resource, with the type T erased, or nil if the kind is not served with the
// features. It computes nothing that a first request could compute.
func (d Definition[T]) Build(features *feature.Set) *registry.Resource {
	if !d.isServed(features) {
		return nil
	}
	b := newBuilder(&d, features)
	name := reflect.TypeFor[T]().Elem().Name()
	r := &registry.Resource{
		Group:          d.GroupVersion.Group,
		Name:           d.Resource,
		Singular:       cmp.Or(d.Singular, strings.ToLower(name)),
		Kind:           name,
		Namespaced:     d.Namespaced,
		ShortNames:     d.ShortNames,
		Categories:     d.Categories,
		Verbs:          d.Verbs,
		Versions:       b.versions(),
		StoragePath:    cmp.Or(d.StoragePath, d.Resource),
		StorageVersion: d.StorageVersion,
		Codec:          d.Codec,
		Strategy:       b.strategy(),
		Columns:        b.columns(),
		Metadata:       d.Metadata,
		Subresources:   b.subresources(name),
	}
	if d.Fields != nil {
		r.Fields = func(obj runtime.Object) fields.Set { return d.Fields(obj.(T)) }
	}
	if r.Verbs == nil {
		r.Verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	}
	if r.Codec == nil {
		r.Codec = b.codec(name, r.Versions[0].Default)
	}
	return r
}

// BuildVirtual is Build for a resource that is computed and never stored.
func (d Definition[T]) BuildVirtual(features *feature.Set, virtual registry.Virtual) *registry.Resource {
	r := d.Build(features)
	if r == nil {
		return nil
	}
	r.StoragePath, r.Codec, r.Strategy = "", nil, registry.Strategy{}
	r.Virtual = &virtual
	return r
}

func (b *builder[T]) codec(kind string, setDefaults func(runtime.Object)) *Codec {
	c := &Codec{
		Kind:    b.GroupVersion.WithKind(kind),
		New:     b.Object.DeepCopyObject,
		JSON:    b.JSON,
		Restore: erase(b.Restore),
		Default: setDefaults,
		More:    b.MoreVersions,
	}
	if v := b.StorageVersion; v != "" {
		same := func(obj runtime.Object) (runtime.Object, error) { return obj, nil }
		hub := registry.Version{Name: c.Kind.Version, New: c.New, ToHub: same, FromHub: same}
		c.Kind.Version, c.More = v, append([]registry.Version{hub}, c.More...)
	}
	return c
}

func (b *builder[T]) versions() []registry.Version {
	hub := registry.Version{
		Name:       b.GroupVersion.Version,
		New:        b.Object.DeepCopyObject,
		Default:    erase(b.Default),
		FieldLabel: b.FieldLabel,
	}
	if set := b.DefaultTimes; set != nil {
		hub.DefaultTimes = func(obj runtime.Object, now metav1.Time) { set(obj.(T), now) }
	}
	if b.List != nil {
		hub.NewList = b.List.DeepCopyObject
	}
	return append([]registry.Version{hub}, b.MoreVersions...)
}

func (b *builder[T]) columns() registry.Columns {
	columns := tableColumns(b.Columns)
	if conditions := b.RowConditions; conditions != nil {
		columns.Row = func(obj runtime.Object) ([]any, []metav1.TableRowCondition) {
			return cells(b.Columns, obj.(T)), conditions(obj.(T))
		}
	}
	if compare := b.CompareRows; compare != nil {
		columns.Compare = func(x, y runtime.Object) int { return compare(x.(T), y.(T)) }
	}
	if inList := b.ColumnsInList; inList != nil {
		columns.InList = func(objs []runtime.Object) registry.Columns {
			list := make([]T, len(objs))
			for i, obj := range objs {
				list[i] = obj.(T)
			}
			return tableColumns(inList(list))
		}
	}
	return columns
}

// subresources returns the subresources in the order of discovery, by name.
func (b *builder[T]) subresources(kind string) []registry.Subresource {
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
