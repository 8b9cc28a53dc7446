package schema

import (
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/miniapi/miniapi/kinds/typed"
)

// Codec stores unstructured objects as JSON. It is a storage.Codec.
type Codec struct{}

// Encode implements storage.Codec.
func (Codec) Encode(obj runtime.Object) ([]byte, error) {
	return json.Marshal(obj.(*unstructured.Unstructured).Object)
}

// Decode implements storage.Codec.
func (Codec) Decode(data []byte) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	return u, utiljson.Unmarshal(data, &u.Object)
}

// Types returns the converter for field managers of a kind.
func Types(kind schema.GroupVersionKind, model func(v2 bool) (*spec.Schema, error)) (managedfields.TypeConverter, error) {
	schemaOfKind, err := model(false)
	if err != nil {
		return nil, err
	}
	return typed.NewCustom(map[schema.GroupVersionKind]*spec.Schema{kind: schemaOfKind}, false)
}

// PruneObject removes the fields of an unstructured object that a Go type does not have, and
// returns their paths.
func PruneObject(obj runtime.Object, content reflect.Type) (unknown []string, err error) {
	object := obj.(*unstructured.Unstructured).Object
	body := map[string]any{}
	for name, value := range object {
		if name != "apiVersion" && name != "kind" && name != "metadata" {
			body[name] = value
		}
	}
	unknown = Prune(body, content, "")
	for name := range object {
		if _, kept := body[name]; !kept && name != "apiVersion" && name != "kind" && name != "metadata" {
			delete(object, name)
		}
	}
	return unknown, nil
}
