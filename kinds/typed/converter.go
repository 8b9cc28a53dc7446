package typed

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Converter is a managedfields.TypeConverter for the kinds of a scheme. It is safe for concurrent
// use.
type Converter struct {
	scheme *runtime.Scheme
	types  *library
	kinds  sync.Map // schema.GroupVersionKind to typed.ParseableType
}

// NewConverter returns a converter without parsed types.
func NewConverter(scheme *runtime.Scheme) *Converter {
	return &Converter{scheme: scheme, types: newLibrary()}
}

// ObjectToTyped returns an object, which has a kind, with its type. The result shares memory with
// the object. For a kind that is not in the scheme it returns an error for which
// runtime.IsNotRegisteredError is true.
func (c *Converter) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	t, err := c.typeOf(obj.GetObjectKind().GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return t.FromUnstructured(u.UnstructuredContent(), opts...)
	}
	if slices.Contains(opts, typed.AllowDuplicates) {
		return unchecked(t, obj)
	}
	return t.FromStructured(obj, opts...)
}

// unchecked returns an object with its type, without validation: a Go struct, which may contain
// duplicates, has the right types. Errors of list keys are found when two values are compared.
func unchecked(t typed.ParseableType, obj runtime.Object) (*typed.TypedValue, error) {
	v, err := value.NewValueReflect(obj)
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 the alternative validates again what was decoded into a struct
	return typed.AsTypedUnvalidated(v, t.Schema, t.TypeRef), nil
}

// TypedToObject returns the unstructured object of a value.
func (c *Converter) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	content, ok := v.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a value of type %T is no object", v.AsValue().Unstructured())
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// typeOf returns the type of a kind, always the same one: values of the same kind are comparable
// because they share it.
func (c *Converter) typeOf(kind schema.GroupVersionKind) (typed.ParseableType, error) {
	if t, ok := c.kinds.Load(kind); ok {
		return t.(typed.ParseableType), nil
	}
	obj, err := c.scheme.New(kind)
	if err != nil {
		return typed.ParseableType{}, err
	}
	model, ok := obj.(interface{ OpenAPIModelName() string })
	if !ok {
		return typed.ParseableType{}, fmt.Errorf("%T has no OpenAPI model", obj)
	}
	types, err := c.types.closure(model.OpenAPIModelName())
	if err != nil {
		return typed.ParseableType{}, fmt.Errorf("%s: %w", kind, err)
	}
	t := typed.ParseableType{Schema: &smd.Schema{Types: types}, TypeRef: named(model.OpenAPIModelName())}
	winner, _ := c.kinds.LoadOrStore(kind, t)
	return winner.(typed.ParseableType), nil
}
