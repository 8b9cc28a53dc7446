// Package rbac holds the kinds of rbac.authorization.k8s.io. Their names are path segments, such as
// system:node, and a PUT creates them.
package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{
		clusterRoleBindings(features),
		clusterRoles(features),
		roleBindings(features),
		roles(features),
	}
}

// definition returns the part that all kinds of the group have in common.
func definition[T kind.Object](resource string, object T, list runtime.Object) kind.Definition[T] {
	return kind.Definition[T]{
		GroupVersion:             rbacv1.SchemeGroupVersion,
		Object:                   object,
		List:                     list,
		Resource:                 resource,
		ValidateName:             validateName,
		AllowCreateOnUpdate:      true,
		AllowUnconditionalUpdate: true,
	}
}

// validateName validates a prefix like a complete name: "." and ".." are errors.
func validateName(name string, _ bool) []string { return path.ValidatePathSegmentName(name, false) }
