package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func clusterRoles() *registry.Resource {
	rules := strategy()
	rules.Create.Validate = kind.CheckCreate(validateClusterRole)
	rules.Update.Validate = kind.CheckAgain(validateClusterRole)
	return kind.Definition{
		GroupVersion: rbacv1.SchemeGroupVersion,
		Object:       &rbacv1.ClusterRole{},
		List:         &rbacv1.ClusterRoleList{},
		Resource:     "clusterroles",
		Finalizers:   kind.Finalizers,
		Strategy:     rules,
	}.Build()
}
