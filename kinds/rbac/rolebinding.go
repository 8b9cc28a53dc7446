package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func roleBindings() *registry.Resource {
	rules := strategy()
	rules.Create.Validate = kind.CheckCreate(validateRoleBinding)
	rules.Update.Validate = kind.CheckUpdate(validateRoleBindingUpdate)
	return kind.Definition{
		GroupVersion: rbacv1.SchemeGroupVersion,
		Object:       &rbacv1.RoleBinding{},
		List:         &rbacv1.RoleBindingList{},
		Resource:     "rolebindings",
		Finalizers:   kind.Finalizers,
		Default:      kind.Defaults(defaultRoleBinding),
		Namespaced:   true,
		Strategy:     rules,
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Role", "string", "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. "+unresolved),
				kind.AgeColumn(),
				kind.WideColumn("Users", "string", "Users in the roleBinding"),
				kind.WideColumn("Groups", "string", "Groups in the roleBinding"),
				kind.WideColumn("ServiceAccounts", "string", "ServiceAccounts in the roleBinding"),
			},
			Row: kind.Row(roleBindingRow),
		},
	}.Build()
}

func validateRoleBindingUpdate(b, old *rbacv1.RoleBinding) field.ErrorList {
	return append(validateRoleBinding(b), immutableRoleRef(b.RoleRef, old.RoleRef)...)
}

func roleBindingRow(binding *rbacv1.RoleBinding) []any {
	cells := []any{binding.Name, roleCell(binding.RoleRef), kind.Age(binding.CreationTimestamp)}
	return append(cells, bindingCells(binding.Subjects)...)
}
