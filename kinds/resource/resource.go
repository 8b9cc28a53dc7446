// Package resource holds the kinds of resource.k8s.io, dynamic resource
// allocation. A deletion answers with the deleted object.
package resource

import (
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources() []*registry.Resource {
	return []*registry.Resource{
		deviceClasses(),
		resourceClaims(),
		resourceClaimTemplates(),
		resourceSlices(),
	}
}

// definition is what all kinds of the group have in common.
func definition(resource string, object, list runtime.Object) kind.Definition {
	return kind.Definition{
		GroupVersion: resourcev1.SchemeGroupVersion,
		Object:       object,
		List:         list,
		Resource:     resource,
		Finalizers:   kind.Finalizers,
		Strategy: registry.Strategy{
			Update: registry.UpdateStrategy{AllowUnconditional: true},
			Delete: registry.DeleteStrategy{ReturnObject: true},
		},
	}
}

func nameAndAge() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{kind.NameColumn(), kind.AgeColumn()}
}
