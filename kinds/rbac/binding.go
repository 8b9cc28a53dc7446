package rbac

import (
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// unresolved ends the description of the column Role.
const unresolved = "If the RoleRef cannot be resolved, the Authorizer must return an error."

// immutableRoleRef keeps a binding at the role it was made for: who may change
// the subjects need not be allowed to grant another role.
func immutableRoleRef(ref, old rbacv1.RoleRef) field.ErrorList {
	if ref == old {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("roleRef"), kind.GoJSON(ref), "cannot change roleRef")}
}

// bindingCells are the cells of both kinds of bindings behind the age.
func bindingCells(subjects []rbacv1.Subject) []any {
	var users, groups, accounts []string
	for _, subject := range subjects {
		switch subject.Kind {
		case rbacv1.UserKind:
			users = append(users, subject.Name)
		case rbacv1.GroupKind:
			groups = append(groups, subject.Name)
		case rbacv1.ServiceAccountKind:
			accounts = append(accounts, fmt.Sprintf("%s/%s", subject.Namespace, subject.Name))
		}
	}
	return []any{strings.Join(users, ", "), strings.Join(groups, ", "), strings.Join(accounts, ", ")}
}

func roleCell(ref rbacv1.RoleRef) string {
	return fmt.Sprintf("%s/%s", ref.Kind, ref.Name)
}
