package crd

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/miniapi/miniapi/kinds/typed"
)

// compileTypes returns the types of all versions for field managers. A manager may have written any
// version.
func (d *definition) compileTypes() (managedfields.TypeConverter, error) {
	models := map[schema.GroupVersionKind]*spec.Schema{}
	for _, v := range d.versions {
		model, err := v.model(false)
		if err != nil {
			return nil, err
		}
		models[v.kind()] = model
	}
	return typed.NewCustom(models, d.preserve)
}
