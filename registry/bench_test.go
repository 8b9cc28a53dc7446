package registry_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// payload is the data of a ConfigMap of about 1 KiB.
var payload = strings.Repeat("0123456789abcdef", 64)

func benchmarkConfigMap(name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "bench"}},
		Data:       map[string]string{"payload": payload, "version": version},
	}
}

func BenchmarkCreate(b *testing.B) {
	store, stop := openConfigMaps(b.Context())
	defer stop()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		obj := benchmarkConfigMap(fmt.Sprintf("c%d", i), "")
		if _, err := store.Create(b.Context(), registry.CreateRequest{Namespace: "default", Object: obj}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	store, stop := openConfigMaps(b.Context())
	defer stop()
	obj := benchmarkConfigMap("demo", "")
	if _, err := store.Create(b.Context(), registry.CreateRequest{Namespace: "default", Object: obj}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, err := store.Update(b.Context(), registry.UpdateRequest{
			Namespace: "default", Name: "demo",
			Propose: func(context.Context, runtime.Object) (runtime.Object, error) {
				return benchmarkConfigMap("demo", strconv.Itoa(i)), nil
			},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
