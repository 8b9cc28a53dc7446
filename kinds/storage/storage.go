// Package storage holds the kinds of storage.k8s.io. A deletion of most of them
// answers with the deleted object.
package storage

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources() []*registry.Resource {
	return []*registry.Resource{
		csiDrivers(),
		csiNodes(),
		csiStorageCapacities(),
		storageClasses(),
		volumeAttachments(),
		volumeAttributesClasses(),
	}
}

// defaultMark follows the name of a class which carries one of the annotations.
func defaultMark(class metav1.Object, annotations ...string) string {
	for _, annotation := range annotations {
		if class.GetAnnotations()[annotation] == "true" {
			return " (default)"
		}
	}
	return ""
}
