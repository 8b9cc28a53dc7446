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

// Converter is a managedfields.TypeConverter for the kinds of a scheme. Safe
// for concurrent use.
type Converter struct {
	scheme *runtime.Scheme
	types  *library
	kinds  sync.Map // schema.GroupVersionKind to typed.ParseableType
}

// NewConverter returns a converter that has parsed nothing yet.
func NewConverter(scheme *runtime.Scheme) *Converter {
	return &Converter{scheme: scheme, types: newLibrary()}
}

// ObjectToTyped returns an object, which names its kind, with its type. The two
// share memory. Of a kind that is not in the scheme it returns an error for
// which runtime.IsNotRegisteredError holds.
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

// unchecked gives an object its type without a look at it: what is in a Go
// struct and may contain duplicates cannot fail to be of the type. What is wrong
// with keys of lists is found when two values are compared.
func unchecked(t typed.ParseableType, obj runtime.Object) (*typed.TypedValue, error) {
	v, err := value.NewValueReflect(obj)
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 the alternative checks again what was decoded into a struct
	return typed.AsTypedUnvalidated(v, t.Schema, t.TypeRef), nil
}

// TypedToObject returns the object that a value is, unstructured.
func (c *Converter) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	content, ok := v.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a value of type %T is no object", v.AsValue().Unstructured())
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// typeOf returns the type of a kind, always the same: values of the same kind
// can be compared because they share it.
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
