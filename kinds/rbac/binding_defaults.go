package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultRoleBinding(binding *rbacv1.RoleBinding) {
	defaultBinding(&binding.RoleRef, binding.Subjects)
}

func defaultClusterRoleBinding(binding *rbacv1.ClusterRoleBinding) {
	defaultBinding(&binding.RoleRef, binding.Subjects)
}

// defaultBinding sets the API groups of the role and the subjects: users and groups are of this
// group, service accounts are of the core group.
func defaultBinding(role *rbacv1.RoleRef, subjects []rbacv1.Subject) {
	kind.SetDefault(&role.APIGroup, rbacv1.GroupName)
	for i := range subjects {
		if subjects[i].Kind == rbacv1.UserKind || subjects[i].Kind == rbacv1.GroupKind {
			kind.SetDefault(&subjects[i].APIGroup, rbacv1.GroupName)
		}
	}
}
