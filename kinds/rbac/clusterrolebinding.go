package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

func clusterRoleBindings(features *feature.Set) *registry.Resource {
	d := definition("clusterrolebindings", &rbacv1.ClusterRoleBinding{}, &rbacv1.ClusterRoleBindingList{})
	d.Default = defaultClusterRoleBinding
	d.ValidateCreate = validateClusterRoleBinding
	d.ValidateUpdate = validateClusterRoleBindingUpdate
	d.Columns = bindingColumns(
		"clusterRoleBinding", "RoleRef can only reference a ClusterRole in the global namespace. ",
		func(b *rbacv1.ClusterRoleBinding) binding { return binding{b.RoleRef, b.Subjects} })
	return d.Build(features)
}
