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

// codec encodes definitions as kube-apiserver does: as JSON of v1beta1, a version that is no longer
// served. It converts with apiextensions-apiserver, which also moves the fields that all versions
// share to the top level and back. Schemas that the conversion would not change are
// not converted.
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

// storedPrefix is the prefix of stored values that an API server has written.
var storedPrefix = []byte(`{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1",`)

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
	if bytes.HasPrefix(data, storedPrefix) {
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

// atRest decodes both versions: which one is stored depends on the release.
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

// conversions is shared and read-only.
var conversions = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
})

// convert converts from one external version to another through the internal version. The result
// shares memory with from, which is not written to.
func convert(from, to runtime.Object) error {
	internal := &apiextensions.CustomResourceDefinition{}
	if err := conversions().Convert(from, internal, nil); err != nil {
		return err
	}
	return conversions().Convert(internal, to, nil)
}
