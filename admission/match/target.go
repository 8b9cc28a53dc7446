package match

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/json"

	"github.com/miniapi/miniapi/registry"
)

// Target is a version of a resource, or of a subresource of it, to show a
// request in.
type Target struct {
	Resource schema.GroupVersionResource
	Kind     schema.GroupVersionKind
	version  registry.Version
}

// newTarget is false where the resource has no such subresource.
func newTarget(store *registry.Store, version registry.Version, subresource string) (Target, bool) {
	r := store.Resource()
	gv := schema.GroupVersion{Group: r.Group, Version: version.Name}
	t := Target{Resource: gv.WithResource(r.Name), Kind: gv.WithKind(r.Kind), version: version}
	if subresource == "" {
		return t, true
	}
	sub, ok := r.Subresource(subresource)
	if ok && sub.New != nil {
		// The body has a version of its own, and only that.
		t.version = registry.Version{Name: version.Name, New: sub.New}
		t.Kind = schema.GroupVersionKind{
			Group:   sub.Kind.Group,
			Version: sub.Kind.Version,
			Kind:    cmp.Or(sub.Kind.Kind, r.Kind),
		}
		if sub.Kind.Version == "" {
			t.Kind = gv.WithKind(t.Kind.Kind)
		}
	}
	return t, ok
}

// OfKind returns the resource that has objects of a kind, and its store.
func OfKind(from *registry.Store, kind schema.GroupVersionKind) (*registry.Store, Target, bool) {
	store, version, ok := from.OfKind(kind)
	if !ok {
		return nil, Target{}, false
	}
	target, ok := newTarget(store, version, "")
	return store, target, ok
}

// Show returns an object, which is in the hub version, in that of the target. It
// names its kind, and must not be written to. Nil remains nil.
func (t Target) Show(obj runtime.Object) (runtime.Object, error) {
	if obj == nil || obj.GetObjectKind().GroupVersionKind() == t.Kind {
		return obj, nil
	}
	if t.version.FromHub != nil {
		var err error
		if obj, err = t.version.FromHub(obj); err != nil {
			return nil, err
		}
	}
	return ofKind(obj, t.Kind), nil
}

// New returns a zero object of the kind.
func (t Target) New() runtime.Object { return t.version.New() }

// Replace puts another object, which was shown in the version of a target, in
// the place of the request's, after the defaults of its kind.
func (r *Request) Replace(t Target, shown runtime.Object) error {
	if t.version.Default != nil {
		t.version.Default(shown)
	}
	obj := shown
	if t.version.ToHub != nil {
		var err error
		if obj, err = t.version.ToHub(obj); err != nil {
			return err
		}
	}
	r.Object = ofKind(obj, r.Object.GetObjectKind().GroupVersionKind())
	return nil
}

// ofKind returns a copy of the outermost part of an object, as one of a kind.
func ofKind(obj runtime.Object, kind schema.GroupVersionKind) runtime.Object {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		named := &unstructured.Unstructured{Object: maps.Clone(u.Object)}
		named.SetGroupVersionKind(kind)
		return named
	}
	from := reflect.ValueOf(obj).Elem()
	to := reflect.New(from.Type())
	to.Elem().Set(from)
	named := to.Interface().(runtime.Object)
	named.GetObjectKind().SetGroupVersionKind(kind)
	return named
}

// Decode reads JSON into a new object that names its kind. It must be of the
// kind of the target.
func (t Target) Decode(document []byte) (runtime.Object, error) {
	obj := t.version.New()
	if u, ok := obj.(*unstructured.Unstructured); ok {
		if err := u.UnmarshalJSON(document); err != nil {
			return nil, err
		}
	} else if err := json.UnmarshalCaseSensitivePreserveInts(document, obj); err != nil {
		return nil, err
	}
	if kind := obj.GetObjectKind().GroupVersionKind(); kind != t.Kind {
		return nil, fmt.Errorf("unable to convert %v to %v", kind, t.Kind)
	}
	return obj, nil
}
