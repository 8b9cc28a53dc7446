package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func clusterRoleBindings() *registry.Resource {
	rules := strategy()
	rules.Create.Validate = kind.CheckCreate(validateClusterRoleBinding)
	rules.Update.Validate = kind.CheckUpdate(validateClusterRoleBindingUpdate)
	return kind.Definition{
		GroupVersion: rbacv1.SchemeGroupVersion,
		Object:       &rbacv1.ClusterRoleBinding{},
		List:         &rbacv1.ClusterRoleBindingList{},
		Resource:     "clusterrolebindings",
		Finalizers:   kind.Finalizers,
		Default:      kind.Defaults(defaultClusterRoleBinding),
		Strategy:     rules,
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Role", "string", "RoleRef can only reference a ClusterRole in the global namespace. "+unresolved),
				kind.AgeColumn(),
				kind.WideColumn("Users", "string", "Users in the clusterRoleBinding"),
				kind.WideColumn("Groups", "string", "Groups in the clusterRoleBinding"),
				kind.WideColumn("ServiceAccounts", "string", "ServiceAccounts in the clusterRoleBinding"),
			},
			Row: kind.Row(clusterRoleBindingRow),
		},
	}.Build()
}

func validateClusterRoleBindingUpdate(b, old *rbacv1.ClusterRoleBinding) field.ErrorList {
	return append(validateClusterRoleBinding(b), immutableRoleRef(b.RoleRef, old.RoleRef)...)
}

func clusterRoleBindingRow(binding *rbacv1.ClusterRoleBinding) []any {
	cells := []any{binding.Name, roleCell(binding.RoleRef), kind.Age(binding.CreationTimestamp)}
	return append(cells, bindingCells(binding.Subjects)...)
}
