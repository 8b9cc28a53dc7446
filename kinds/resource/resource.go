// Package resource holds the kinds of resource.k8s.io, dynamic resource allocation. A deletion
// returns the deleted object.
package resource

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{
		deviceClasses(features),
		deviceTaintRules(features),
		resourceClaims(features),
		resourceClaimTemplates(features),
		resourceSlices(features),
	}
}

// definition returns the part that all kinds of the group have in common.
func definition[T kind.Object](resource string, object T, list runtime.Object) kind.Definition[T] {
	return kind.Definition[T]{
		GroupVersion:             resourcev1.SchemeGroupVersion,
		Object:                   object,
		List:                     list,
		Resource:                 resource,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
	}
}
