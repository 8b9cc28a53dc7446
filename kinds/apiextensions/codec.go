package apiextensions

import (
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// codec writes definitions as kube-apiserver does to this day: as JSON of
// v1beta1, a version that is served no more. The conversion is that of
// apiextensions-apiserver, for it also moves what all versions have in common
// to the top level and back.
type codec struct{}

// Encode returns the bytes of a definition of v1.
func (codec) Encode(obj runtime.Object) ([]byte, error) {
	old := &apiextensionsv1beta1.CustomResourceDefinition{}
	if err := convert(obj, old); err != nil {
		return nil, fmt.Errorf("encode CustomResourceDefinition: %w", err)
	}
	old.SetGroupVersionKind(atRest().Kind)
	data, err := json.Marshal(old)
	if err != nil {
		return nil, fmt.Errorf("encode CustomResourceDefinition: %w", err)
	}
	return append(data, '\n'), nil
}

// Decode returns a definition of v1.
func (codec) Decode(data []byte) (runtime.Object, error) {
	old, err := atRest().Decode(data)
	if err != nil {
		return nil, err
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := convert(old, definition); err != nil {
		return nil, fmt.Errorf("decode CustomResourceDefinition: %w", err)
	}
	definition.SetGroupVersionKind(schema.GroupVersionKind{})
	return definition, nil
}

// atRest reads both versions, for which one is written is a matter of release.
var atRest = sync.OnceValue(func() *kind.Codec {
	return &kind.Codec{
		Kind: apiextensionsv1beta1.SchemeGroupVersion.WithKind("CustomResourceDefinition"),
		New:  func() runtime.Object { return &apiextensionsv1beta1.CustomResourceDefinition{} },
		More: []registry.Version{{
			Name: "v1",
			New:  func() runtime.Object { return &apiextensionsv1.CustomResourceDefinition{} },
			ToHub: func(obj runtime.Object) (runtime.Object, error) {
				old := &apiextensionsv1beta1.CustomResourceDefinition{}
				return old, convert(obj, old)
			},
		}},
	}
})

// conversions is shared and read only.
var conversions = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
})

// convert goes from one external version to another by way of the internal one.
// The result shares memory with what it was made of, which is not written to.
func convert(from, to runtime.Object) error {
	internal := &apiextensions.CustomResourceDefinition{}
	if err := conversions().Convert(from, internal, nil); err != nil {
		return err
	}
	return conversions().Convert(internal, to, nil)
}
