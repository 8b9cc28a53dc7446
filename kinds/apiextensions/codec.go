package apiextensions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	sigsjson "sigs.k8s.io/json"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// codec writes definitions as kube-apiserver does to this day: as JSON of
// v1beta1, a version that is served no more. The conversion is that of
// apiextensions-apiserver, for it also moves what all versions have in common
// to the top level and back. Schemas are left out of it where it would not change
// them.
type codec struct{}

// Encode returns the bytes of a definition of v1.
func (codec) Encode(obj runtime.Object) ([]byte, error) {
	data, err := encode(obj.(*apiextensionsv1.CustomResourceDefinition))
	if err != nil {
		return nil, fmt.Errorf("encode CustomResourceDefinition: %w", err)
	}
	return append(data, '\n'), nil
}

func encode(definition *apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	if all(definition, hasNormalValues) {
		s, err := newStored(definition)
		if err != nil {
			return nil, err
		}
		s.SetGroupVersionKind(atRest().Kind)
		return json.Marshal(s)
	}
	old := &apiextensionsv1beta1.CustomResourceDefinition{}
	if err := convert(definition, old); err != nil {
		return nil, err
	}
	old.SetGroupVersionKind(atRest().Kind)
	return json.Marshal(old)
}

// usual is how values at rest begin that an API server has written.
var usual = []byte(`{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1",`)

// Decode returns a definition of v1.
func (codec) Decode(data []byte) (runtime.Object, error) {
	definition, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("decode CustomResourceDefinition: %w", err)
	}
	definition.SetGroupVersionKind(schema.GroupVersionKind{})
	return definition, nil
}

func decode(data []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	if bytes.HasPrefix(data, usual) {
		s := &stored{}
		if err := sigsjson.UnmarshalCaseSensitivePreserveInts(data, s); err != nil {
			return nil, err
		}
		return s.definition()
	}
	old, err := atRest().Decode(data)
	if err != nil {
		return nil, err
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	return definition, convert(old, definition)
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
