package custom

import (
	"maps"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// converter converts objects of one kind from version to version. It must be
// safe for concurrent use.
type converter interface {
	// convert returns an object, which names its kind, in another version. It does
	// not write to the object; the result may share memory with it.
	convert(object map[string]any, apiVersion string) (map[string]any, error)
}

// converters makes the converter of a definition.
type converters struct{}

func (c converters) of(*apiextensionsv1.CustomResourceDefinition) converter {
	return rename{}
}

// rename is the strategy None: the versions differ in name only.
type rename struct{}

func (rename) convert(object map[string]any, apiVersion string) (map[string]any, error) {
	out := maps.Clone(object)
	out["apiVersion"] = apiVersion
	return out, nil
}
