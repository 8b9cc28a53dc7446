package typed_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/typed"
)

func newDeployment() *appsv1.Deployment {
	d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "web", Image: "nginx",
			Env:   []corev1.EnvVar{{Name: "A", Value: "1"}},
			Ports: []corev1.ContainerPort{{ContainerPort: 80, Protocol: corev1.ProtocolTCP}, {ContainerPort: 80, Protocol: corev1.ProtocolUDP}},
		}},
		Tolerations: []corev1.Toleration{{Key: "k"}},
	}}}}
	d.Name, d.Finalizers = "d", []string{"a/b"}
	d.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	return d
}

func fieldSet(t *testing.T, c managedfields.TypeConverter, obj runtime.Object) string {
	t.Helper()
	value, err := c.ObjectToTyped(obj)
	if err != nil {
		t.Fatal(err)
	}
	set, err := value.ToFieldSet()
	if err != nil {
		t.Fatal(err)
	}
	return set.String()
}

// The result equals the result of client-go's converter, which is built from all types at once.
func TestConverterAgreesWithClientGo(t *testing.T) {
	want := fieldSet(t, applyconfigurations.NewTypeConverter(scheme.Scheme), newDeployment())
	if got := fieldSet(t, typed.NewConverter(kinds.Scheme()), newDeployment()); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestEveryKindHasAType(t *testing.T) {
	c := typed.NewConverter(kinds.Scheme())
	for _, r := range kinds.Resources(feature.Default()) {
		for _, v := range r.Versions {
			obj := v.New()
			obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Group: r.Group, Version: v.Name, Kind: r.Kind})
			value, err := c.ObjectToTyped(obj)
			if err != nil {
				t.Errorf("%s: %v", r.GroupResource(), err)
				continue
			}
			for _, name := range value.Schema().Types {
				if name.Scalar == nil && name.List == nil && name.Map == nil {
					t.Errorf("%s: type %s is nothing", r.GroupResource(), name.Name)
				}
			}
		}
	}
}

func TestUnstructuredObjectsRoundTrip(t *testing.T) {
	c := typed.NewConverter(kinds.Scheme())
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(newDeployment())
	if err != nil {
		t.Fatal(err)
	}
	value, err := c.ObjectToTyped(&unstructured.Unstructured{Object: content})
	if err != nil {
		t.Fatal(err)
	}
	obj, err := c.TypedToObject(value)
	if err != nil {
		t.Fatal(err)
	}
	if name := obj.(*unstructured.Unstructured).GetName(); name != "d" {
		t.Errorf("got %q", name)
	}
}

func TestUnknownKindsAreNotRegistered(t *testing.T) {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v0", Kind: "Deployment"})
	if _, err := typed.NewConverter(kinds.Scheme()).ObjectToTyped(obj); !runtime.IsNotRegisteredError(err) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkFirstUse measures the first object of a kind in a process.
func BenchmarkFirstUse(b *testing.B) {
	kinds.Scheme()
	configMap := &corev1.ConfigMap{}
	configMap.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	for name, obj := range map[string]runtime.Object{"ConfigMap": configMap, "Deployment": newDeployment()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := typed.NewConverter(kinds.Scheme()).ObjectToTyped(obj); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
