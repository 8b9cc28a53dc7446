// Package rbac holds the kinds of rbac.authorization.k8s.io. Their names are
// free but for what a path segment cannot hold, as in system:node, and a PUT
// creates them.
package rbac

import (
	"k8s.io/apimachinery/pkg/api/validation/path"

	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources() []*registry.Resource {
	return []*registry.Resource{
		clusterRoleBindings(),
		clusterRoles(),
		roleBindings(),
		roles(),
	}
}

func strategy() registry.Strategy {
	return registry.Strategy{
		Create: registry.CreateStrategy{ValidateName: path.ValidatePathSegmentName},
		Update: registry.UpdateStrategy{AllowCreate: true, AllowUnconditional: true},
	}
}
