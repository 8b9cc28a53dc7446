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

// Target is a version of a resource, or of one of its subresources, to show a request in.
type Target struct {
	Resource schema.GroupVersionResource
	Kind     schema.GroupVersionKind
	version  registry.Version
}

// newTarget returns false if the resource does not have the subresource.
func newTarget(r *registry.Resource, version registry.Version, subresource string) (Target, bool) {
	gv := schema.GroupVersion{Group: r.Group, Version: version.Name}
	t := Target{Resource: gv.WithResource(r.Name), Kind: gv.WithKind(r.Kind), version: version}
	if subresource == "" {
		return t, true
	}
	sub, ok := r.Subresource(subresource)
	if ok && sub.New != nil {
		// The kind of the body has only one version.
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

// OfKind returns the reader of the objects of a kind, and their target.
func OfKind(catalog *registry.Catalog, kind schema.GroupVersionKind) (registry.Reader, Target, bool) {
	served, version, ok := catalog.Snapshot().OfKind(kind)
	if !ok {
		return nil, Target{}, false
	}
	target, ok := newTarget(served.Resource(), version, "")
	return served, target, ok
}

// Show converts an object from the hub version to the version of the target and sets its kind.
// The result must not be modified. Show returns nil for nil.
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

// Replace sets the defaults of an object that has the version of a target, converts it to the hub
// version, and makes it the object of the request.
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

// ofKind returns a shallow copy of an object with its kind set.
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

// Decode reads JSON into a new object with its kind set. The JSON must be of the target's kind.
func (t Target) Decode(document []byte) (runtime.Object, error) {
	obj := t.version.New()
	if u, ok := obj.(*unstructured.Unstructured); ok {
		if err := u.UnmarshalJSON(document); err != nil {
			return nil, err
		}
	} else if err := json.UnmarshalCaseSensitivePreserveInts(document, obj); err != nil {
		return nil, err
	}
	return t.ofOwnKind(obj)
}

// DecodeStrict is Decode with a strict decoding error for unknown fields.
func (t Target) DecodeStrict(document []byte) (runtime.Object, error) {
	obj := t.version.New()
	into := any(obj)
	if u, ok := obj.(*unstructured.Unstructured); ok {
		into = &u.Object
	}
	strict, err := json.UnmarshalStrict(document, into)
	switch {
	case err != nil:
		return nil, err
	case len(strict) > 0:
		return nil, runtime.NewStrictDecodingError(strict)
	}
	return t.ofOwnKind(obj)
}

// ofOwnKind returns the object, or an error if it has another kind than the target.
func (t Target) ofOwnKind(obj runtime.Object) (runtime.Object, error) {
	if kind := obj.GetObjectKind().GroupVersionKind(); kind != t.Kind {
		return nil, fmt.Errorf("unable to convert %v to %v", kind, t.Kind)
	}
	return obj, nil
}
