package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

func roleBindings(features *feature.Set) *registry.Resource {
	d := definition("rolebindings", &rbacv1.RoleBinding{}, &rbacv1.RoleBindingList{})
	d.Namespaced = true
	d.Default = defaultRoleBinding
	d.ValidateCreate = validateRoleBinding
	d.ValidateUpdate = validateRoleBindingUpdate
	d.Columns = bindingColumns(
		"roleBinding", "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. ",
		func(b *rbacv1.RoleBinding) binding { return binding{b.RoleRef, b.Subjects} })
	return d.Build(features)
}
