package registry

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// fieldVersions converts objects between versions for a field manager. Objects in the hub version
// have no kind, all others have one. The objects that it returns have no managed fields, and its
// methods do not modify their arguments.
type fieldVersions struct {
	resource *Resource
	// kind is the kind of the written objects.
	kind schema.GroupVersionKind
	// body returns a zero object of a kind of the subresource, which has one version. Nil: the
	// kind of the resource.
	body func() runtime.Object
	// now returns the time of the API.
	now func() time.Time
}

func (b *base) fieldVersions(version, subresource string) *fieldVersions {
	r := b.resource
	v := &fieldVersions{resource: r, now: b.catalog.Now}
	v.kind = schema.GroupVersionKind{Group: r.Group, Version: cmp.Or(version, r.Versions[0].Name), Kind: r.Kind}
	sub, ok := r.Subresource(subresource)
	if !ok || sub.New == nil {
		return v
	}
	v.body = sub.New
	v.kind.Kind = sub.Kind.Kind
	if sub.Kind.Version != "" {
		v.kind = sub.Kind
	}
	return v
}

// version returns the constructor and the conversions of a group version.
func (v *fieldVersions) version(gv schema.GroupVersion) (Version, error) {
	if v.body != nil && gv == v.kind.GroupVersion() {
		return Version{New: v.body}, nil
	}
	known := v.resource.allVersions()
	i := slices.IndexFunc(known, func(other Version) bool { return other.Name == gv.Version })
	if i < 0 || v.body != nil || gv.Group != v.resource.Group {
		return Version{}, runtime.NewNotRegisteredErrForKind("registry", gv.WithKind(v.kind.Kind))
	}
	return known[i], nil
}

// New returns an object in the version of its kind.
func (v *fieldVersions) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	version, err := v.version(kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	obj := version.New()
	obj.GetObjectKind().SetGroupVersionKind(kind)
	return obj, nil
}

// empty returns an object without fields. It is in the hub version if the resource serves it: a
// conversion to the hub may set defaults.
func (v *fieldVersions) empty() (runtime.Object, error) {
	hub := slices.IndexFunc(v.resource.Versions, func(version Version) bool { return version.ToHub == nil })
	if hub < 0 || v.body != nil || v.resource.Custom {
		return v.New(v.kind)
	}
	return v.resource.Versions[hub].New(), nil
}

// Default sets the defaults of the object's version.
func (v *fieldVersions) Default(obj runtime.Object) {
	version, err := v.version(obj.GetObjectKind().GroupVersionKind().GroupVersion())
	if err == nil {
		version.SetDefaults(obj, v.now)
	}
}

// ConvertToVersion converts an object to another version; the internal version is the hub.
func (v *fieldVersions) ConvertToVersion(obj runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	gv, ok := target.(schema.GroupVersion)
	if !ok {
		return nil, fmt.Errorf("convert to %v: not a version", target)
	}
	hub, err := v.toHub(obj)
	if err != nil || gv.Version == runtime.APIVersionInternal {
		return hub, err
	}
	return v.fromHub(hub, gv)
}

func (v *fieldVersions) toHub(obj runtime.Object) (runtime.Object, error) {
	kind := obj.GetObjectKind().GroupVersionKind()
	if kind.Empty() {
		return withoutManagers(obj), nil
	}
	version, err := v.version(kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	if u, ok := obj.(*unstructured.Unstructured); ok && !v.resource.Custom {
		obj = version.New()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj); err != nil {
			return nil, err
		}
	}
	if version.ToHub != nil {
		if obj, err = version.ToHub(obj); err != nil {
			return nil, err
		}
	}
	hub := withoutManagers(obj)
	ClearKind(hub)
	return hub, nil
}

func (v *fieldVersions) fromHub(hub runtime.Object, gv schema.GroupVersion) (runtime.Object, error) {
	version, err := v.version(gv)
	if err != nil {
		return nil, err
	}
	obj := hub
	if version.FromHub != nil {
		if obj, err = version.FromHub(hub); err != nil {
			return nil, err
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(gv.WithKind(v.kind.Kind))
	return obj, nil
}

// withoutManagers returns a shallow copy without managed fields.
func withoutManagers(obj runtime.Object) runtime.Object {
	shown := ShallowCopy(obj)
	if accessor, err := meta.Accessor(shown); err == nil {
		accessor.SetManagedFields(nil)
	}
	return shown
}

// Convert and ConvertFieldLabel complete runtime.ObjectConvertor; field managers do not call
// them.
func (v *fieldVersions) Convert(in, out, _ any) error {
	return fmt.Errorf("convert %T to %T: not a version", in, out)
}

func (v *fieldVersions) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return runtime.DefaultMetaV1FieldSelectorConversion(label, value)
}

var (
	_ runtime.ObjectConvertor = (*fieldVersions)(nil)
	_ runtime.ObjectDefaulter = (*fieldVersions)(nil)
	_ runtime.ObjectCreater   = (*fieldVersions)(nil)
)
