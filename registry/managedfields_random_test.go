package registry_test

import (
	"math/rand/v2"
	"reflect"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// filler sets random fields of objects. Values come from small ranges, so that objects have fields
// and items in common.
type filler struct {
	*rand.Rand
	// change is the probability with which a field is set.
	change float64
	// texts are the values of strings.
	texts []string
}

// fill sets fields at or below a value.
func (f *filler) fill(v reflect.Value, depth int) {
	if f.special(v) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Name != "ManagedFields" && field.Name != "TypeMeta" {
				f.field(v.Field(i), depth)
			}
		}
	case reflect.Pointer:
		if depth == 0 || f.IntN(8) == 0 {
			v.SetZero()
			return
		}
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		f.fill(v.Elem(), depth-1)
	case reflect.Slice:
		f.slice(v, depth)
	case reflect.Map:
		f.dictionary(v, depth)
	case reflect.String:
		v.SetString(f.texts[f.IntN(len(f.texts))])
	case reflect.Bool:
		v.SetBool(f.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.IntN(200)))
	case reflect.Float64:
		v.SetFloat(float64(f.IntN(3)) / 2)
	case reflect.Uint8:
		v.SetUint(uint64(f.IntN(3)))
	}
}

// field sets a field or descends into it.
func (f *filler) field(v reflect.Value, depth int) {
	switch {
	case f.Float64() < f.change:
		f.fill(v, depth)
	case v.Kind() == reflect.Struct:
		f.fill(v, depth)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		f.fill(v, depth)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			f.field(v.Index(i), depth-1)
		}
	}
}

func (f *filler) slice(v reflect.Value, depth int) {
	switch {
	case depth == 0 || f.IntN(8) == 0:
		v.SetZero()
		return
	case f.IntN(8) == 0:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return
	}
	old := v.Len()
	n := 1 + f.IntN(4)
	made := reflect.MakeSlice(v.Type(), n, n)
	reflect.Copy(made, v)
	// New items have most fields, so that most have different keys.
	change := f.change
	f.change = max(0.9, change)
	for i := old; i < n; i++ {
		f.fill(made.Index(i), depth-1)
	}
	f.change = change
	v.Set(made)
}

func (f *filler) dictionary(v reflect.Value, depth int) {
	switch {
	case depth == 0 || f.IntN(8) == 0:
		v.SetZero()
		return
	case f.IntN(8) == 0:
		v.Set(reflect.MakeMap(v.Type()))
		return
	}
	made := reflect.MakeMap(v.Type())
	for it := v.MapRange(); it.Next(); {
		if f.IntN(3) > 0 {
			made.SetMapIndex(it.Key(), it.Value())
		}
	}
	for range f.IntN(3) {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key, depth-1)
		f.fill(value, depth-1)
		made.SetMapIndex(key, value)
	}
	v.Set(made)
}

// special sets values of types with their own JSON encoding.
func (f *filler) special(v reflect.Value) bool {
	switch p := v.Addr().Interface().(type) {
	case *metav1.Time:
		p.Time = time.Unix(int64(f.IntN(3))*3600, 0)
	case *metav1.MicroTime:
		p.Time = time.Unix(int64(f.IntN(3))*3600, 0).UTC()
	case *resource.Quantity:
		*p = resource.MustParse([]string{"1", "1000m", "2Gi", "0"}[f.IntN(4)])
		if f.IntN(2) == 0 {
			_ = p.String() // caches its text
		}
	case *intstr.IntOrString:
		*p = []intstr.IntOrString{intstr.FromInt32(1), intstr.FromString("a"), {}}[f.IntN(3)]
	case *runtime.RawExtension:
		p.Raw = []byte([]string{`{"a":1}`, `{"a":{"b":[1]}}`, `null`}[f.IntN(3)])
	case *apiextensionsv1.JSON:
		p.Raw = []byte([]string{`{"a":1}`, `1`, `[1]`}[f.IntN(3)])
	default:
		return v.Kind() == reflect.Interface
	}
	return true
}
