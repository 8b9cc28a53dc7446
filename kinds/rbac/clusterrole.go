package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

func clusterRoles(features *feature.Set) *registry.Resource {
	d := definition("clusterroles", &rbacv1.ClusterRole{}, &rbacv1.ClusterRoleList{})
	d.Validate = validateClusterRole
	return d.Build(features)
}
