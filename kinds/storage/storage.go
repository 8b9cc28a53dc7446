// Package storage holds the kinds of storage.k8s.io. The deletion of most of them returns the
// deleted object.
package storage

import (
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

// classNameColumn returns the column of a class's name, with a mark on a default class, which has
// one of the annotations.
func classNameColumn[T kind.Object](annotations ...string) kind.Column[T] {
	column := kind.NameColumn[T]()
	column.Cell = func(class T) any {
		for _, annotation := range annotations {
			if class.GetAnnotations()[annotation] == "true" {
				return class.GetName() + " (default)"
			}
		}
		return class.GetName()
	}
	return column
}
