// Package semantic compares API objects by their meaning, with the results of equality.Semantic of
// apimachinery: quantities, times and the fields of managers are compared by value. It allocates
// almost nothing and skips memory that both values share, because each write compares the proposed
// object with the stored object several times. Selectors of the packages labels and fields are not
// supported; no API object contains them.
package semantic

import (
	"bytes"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Equal reports whether two values are equal. A nil slice or map equals an empty one. Large values
// should be passed by pointer. The values must not contain themselves.
func Equal(a, b any) bool {
	return comparison{nilIsEmpty: true}.interfaces(reflect.ValueOf(a), reflect.ValueOf(b))
}

// EqualAndNil is Equal for values in which a nil slice or map differs from an empty one.
func EqualAndNil(a, b any) bool {
	return comparison{}.interfaces(reflect.ValueOf(a), reflect.ValueOf(b))
}

type comparison struct {
	nilIsEmpty bool
}

// interfaces compares the contents of two interfaces, which may have different types.
func (c comparison) interfaces(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	return a.Type() == b.Type() && c.values(a, b)
}

// values compares two values of one type.
func (c comparison) values(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return a.UnsafePointer() == b.UnsafePointer() || c.values(a.Elem(), b.Elem())
	case reflect.Interface:
		return c.interfaces(a.Elem(), b.Elem())
	case reflect.Struct:
		return c.structs(a, b)
	case reflect.Slice:
		return c.lists(a, b)
	case reflect.Map:
		return c.maps(a, b)
	case reflect.Array:
		return c.items(a, b)
	case reflect.Func:
		return a.IsNil() && b.IsNil()
	default:
		return a.Equal(b)
	}
}

func (c comparison) structs(a, b reflect.Value) bool {
	switch a.Type() {
	case reflect.TypeFor[resource.Quantity]():
		return pointerTo[resource.Quantity](a).Cmp(*pointerTo[resource.Quantity](b)) == 0
	case reflect.TypeFor[metav1.Time]():
		return pointerTo[metav1.Time](a).UTC() == pointerTo[metav1.Time](b).UTC()
	case reflect.TypeFor[metav1.MicroTime]():
		return pointerTo[metav1.MicroTime](a).UTC() == pointerTo[metav1.MicroTime](b).UTC()
	case reflect.TypeFor[metav1.FieldsV1]():
		return pointerTo[metav1.FieldsV1](a).Equal(*pointerTo[metav1.FieldsV1](b))
	}
	for i := range a.NumField() {
		if !c.values(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

// pointerTo returns a pointer to a value, or to a copy of a value without an address.
func pointerTo[T any](v reflect.Value) *T {
	if v.CanAddr() {
		return v.Addr().Interface().(*T)
	}
	value := v.Interface().(T)
	return &value
}

func (c comparison) lists(a, b reflect.Value) bool {
	if a.Len() != b.Len() || !c.nilIsEmpty && a.IsNil() != b.IsNil() {
		return false
	}
	switch {
	case a.Len() == 0 || a.UnsafePointer() == b.UnsafePointer():
		return true
	case a.Type().Elem().Kind() == reflect.Uint8:
		return bytes.Equal(a.Bytes(), b.Bytes())
	default:
		return c.items(a, b)
	}
}

func (c comparison) items(a, b reflect.Value) bool {
	for i := range a.Len() {
		if !c.values(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

func (c comparison) maps(a, b reflect.Value) bool {
	if a.Len() != b.Len() || !c.nilIsEmpty && a.IsNil() != b.IsNil() {
		return false
	}
	if a.Len() == 0 || a.UnsafePointer() == b.UnsafePointer() {
		return true
	}
	key, value := reflect.New(a.Type().Key()).Elem(), reflect.New(a.Type().Elem()).Elem()
	for entries := a.MapRange(); entries.Next(); {
		key.SetIterKey(entries)
		value.SetIterValue(entries)
		other := b.MapIndex(key)
		if !other.IsValid() || !c.values(value, other) {
			return false
		}
	}
	return true
}
