package kinds

import (
	"fmt"
	"sync"

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
