package semantic

import (
	"math"
	"math/rand"
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// compare requires the results of equality.Semantic.
func compare(t *testing.T, a, b any) {
	t.Helper()
	if got, want := Equal(a, b), equality.Semantic.DeepEqual(a, b); got != want {
		t.Errorf("Equal(%#v, %#v) = %v, want %v", a, b, got, want)
	}
	if got, want := EqualAndNil(a, b), equality.Semantic.DeepEqualWithNilDifferentFromEmpty(a, b); got != want {
		t.Errorf("EqualAndNil(%#v, %#v) = %v, want %v", a, b, got, want)
	}
}

func TestValues(t *testing.T) {
	now := time.Now()
	three := int32(3)
	for name, values := range map[string][]any{
		"nothing":          {nil, (*int32)(nil), &three, int32(3), int64(3), "3"},
		"numbers":          {1.5, 2.5, math.NaN(), true, false},
		"quantities":       {resource.MustParse("1"), resource.MustParse("1000m"), resource.MustParse("2"), resource.Quantity{}, resource.MustParse("0")},
		"maps":             {corev1.ResourceList{"cpu": resource.MustParse("1")}, corev1.ResourceList{"cpu": resource.MustParse("1000m")}, corev1.ResourceList{"memory": resource.MustParse("1")}, corev1.ResourceList{}, corev1.ResourceList(nil)},
		"strings":          {map[string]string{"a": "b"}, map[string]string{"a": "b"}, map[string]string{"a": "c"}, map[string]string{"b": "b"}, map[string]string{}},
		"bytes":            {map[string][]byte{"a": {1}}, map[string][]byte{"a": {1}}, map[string][]byte{"a": {}}, map[string][]byte{"a": nil}},
		"times":            {metav1.NewTime(now), metav1.NewTime(now.UTC()), metav1.NewTime(now.Round(0)), metav1.Time{}, metav1.NewMicroTime(now), metav1.NewMicroTime(now.UTC())},
		"lists":            {[]string{"a"}, []string{"a"}, []string{"b"}, []string{"a", "b"}, []string{}, []string(nil)},
		"arrays":           {[2]string{"a", "b"}, [2]string{"a", "b"}, [2]string{"a", "c"}},
		"functions":        {(func())(nil), (func())(nil), func() {}},
		"any":              {[]any{int64(1), "a", nil, map[string]any{}}, []any{int64(1), "a", nil, map[string]any(nil)}, []any{1.0, "a", nil, nil}, map[string]any{"a": nil}, map[string]any{}},
		"int or string":    {intstr.FromInt32(1), intstr.FromInt32(1), intstr.FromString("1")},
		"embedded objects": {runtime.RawExtension{Object: &corev1.Pod{}}, runtime.RawExtension{Object: &corev1.Pod{}}, runtime.RawExtension{Object: &corev1.Node{}}, runtime.RawExtension{Raw: []byte("{}")}, runtime.RawExtension{}},
		"managers":         {metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1("{}")}, metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1("{}")}, metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1("{ }")}, metav1.ManagedFieldsEntry{}},
		"unstructured":     {&unstructured.Unstructured{Object: map[string]any{"a": int64(1)}}, &unstructured.Unstructured{Object: map[string]any{"a": int64(1)}}, &unstructured.Unstructured{Object: map[string]any{"a": 1.0}}, &unstructured.Unstructured{}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, a := range values {
				for _, b := range values {
					compare(t, a, b)
				}
			}
		})
	}
}

// Random objects are compared with copies in which fields are changed, emptied or shared.
func TestRandomObjects(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewSource(seed))
	for range 300 {
		var a, b appsv1.Deployment
		fill(random, reflect.ValueOf(&a).Elem(), 10)
		a.DeepCopyInto(&b)
		compare(t, &a, &b)
		switch random.Intn(4) {
		case 0:
			fill(random, reflect.ValueOf(&b.Spec.Template.Spec).Elem(), 2)
		case 1:
			fill(random, reflect.ValueOf(&b.ObjectMeta).Elem(), 3)
		case 2:
			b.Spec.Template = a.Spec.Template
			b.Annotations = map[string]string{}
		case 3:
			b.Spec.Template.Spec.Containers = append(b.Spec.Template.Spec.Containers, corev1.Container{})
		}
		compare(t, &a, &b)
		compare(t, a, b)
	}
}

// fill sets random fields of a value. Values come from small ranges, so that many are equal.
func fill(random *rand.Rand, v reflect.Value, depth int) {
	switch into := v.Addr().Interface().(type) {
	case *resource.Quantity:
		*into = *resource.NewMilliQuantity(random.Int63n(3)*500, resource.DecimalSI)
		return
	case *metav1.Time:
		*into = metav1.Unix(random.Int63n(3), 0)
		return
	case *metav1.FieldsV1:
		into.SetRawString([]string{"{}", `{"f:a":{}}`}[random.Intn(2)])
		return
	}
	if depth == 0 || random.Intn(4) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(random, v.Field(i), depth-1)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(random, v.Elem(), depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), random.Intn(3), 3))
		for i := range v.Len() {
			fill(random, v.Index(i), depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range random.Intn(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(random, key, depth-1)
			fill(random, value, depth-1)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString([]string{"a", "b"}[random.Intn(2)])
	case reflect.Bool:
		v.SetBool(random.Intn(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(random.Int63n(2))
	}
}

func BenchmarkEqual(b *testing.B) {
	pod := corev1.PodSpec{Containers: []corev1.Container{{
		Name: "a", Image: "image", Env: []corev1.EnvVar{{Name: "a", Value: "b"}},
		Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi")}},
	}}, NodeSelector: map[string]string{"a": "b", "c": "d"}}
	now := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: pod}}}
	was := now.DeepCopy()
	was.Status.Replicas = 1
	for name, equal := range map[string]func(a, b any) bool{"semantic": Equal, "apimachinery": equality.Semantic.DeepEqual} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				equal(now, was)
			}
		})
	}
}
