// Package storage holds the kinds of storage.k8s.io. The deletion of most of them returns the
// deleted object.
package storage

import (
	"slices"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{
		csiDrivers(features),
		csiNodes(features),
		csiStorageCapacities(features),
		storageClasses(features),
		volumeAttachments(features),
		volumeAttributesClasses(features),
	}
}

const defaultMark = " (default)"

// classNameColumn returns the column of a class's name, with a mark on a default class, which has
// one of the annotations.
func classNameColumn[T kind.Object](annotations ...string) kind.Column[T] {
	column := kind.NameColumn[T]()
	column.Cell = func(class T) any {
		if isDefaultClass(class, annotations) {
			return class.GetName() + defaultMark
		}
		return class.GetName()
	}
	return column
}

func isDefaultClass(class kind.Object, annotations []string) bool {
	return slices.ContainsFunc(annotations, func(name string) bool { return class.GetAnnotations()[name] == "true" })
}
