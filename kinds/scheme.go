package kinds

import (
	"fmt"
	"sync"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/kinds/typed"
)

// Types returns the converter for the fields of the built-in types. All servers of a process share
// it.
func Types() *typed.Converter { return types() }

var types = sync.OnceValue(func() *typed.Converter { return typed.NewConverter(Scheme()) })

// Scheme returns the Go types of all served versions and of metadata. All servers of a process
// share it; it must not be written to.
func Scheme() *runtime.Scheme { return scheme() }

var scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	add := schemes{metav1.AddMetaToScheme}
	for _, g := range groups() {
		add = append(add, g.types...)
	}
	for _, f := range add {
		if err := f(s); err != nil {
			panic(fmt.Sprintf("kinds: scheme: %v", err))
		}
	}
	return s
})

// addOldEviction adds the version of Evictions that older clients send. It has the fields of v1.
func addOldEviction(s *runtime.Scheme) error {
	s.AddKnownTypeWithName(schema.GroupVersionKind{Group: policyv1.GroupName, Version: "v1beta1", Kind: "Eviction"}, &policyv1.Eviction{})
	return nil
}
