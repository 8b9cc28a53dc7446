package node

import (
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func runtimeClasses(features *feature.Set) *registry.Resource {
	return kind.Definition[*nodev1.RuntimeClass]{
		GroupVersion:          nodev1.SchemeGroupVersion,
		Object:                &nodev1.RuntimeClass{},
		List:                  &nodev1.RuntimeClassList{},
		Resource:              "runtimeclasses",
		GenerateNameOnUpdate:  true,
		UnqualifiedFinalizers: true,
		Warnings:              warningsForSelector,
		ValidateCreate:        func(c *nodev1.RuntimeClass) field.ErrorList { return validateRuntimeClass(c, features) },
		AllowCreateOnUpdate:   true,
		ValidateUpdate: func(c, old *nodev1.RuntimeClass) field.ErrorList {
			return validateRuntimeClassUpdate(c, old, features)
		},
		Columns: kind.StandardColumns(
			kind.TextColumn("Handler", "", func(class *nodev1.RuntimeClass) any { return class.Handler }),
		),
	}.Build(features)
}
