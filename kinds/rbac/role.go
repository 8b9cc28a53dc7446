package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

func roles(features *feature.Set) *registry.Resource {
	d := definition("roles", &rbacv1.Role{}, &rbacv1.RoleList{})
	d.Namespaced = true
	d.Validate = validateRole
	return d.Build(features)
}
