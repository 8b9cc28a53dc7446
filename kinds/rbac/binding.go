package rbac

import (
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

// binding is the part of a binding that its columns show.
type binding struct {
	role     rbacv1.RoleRef
	subjects []rbacv1.Subject
}

// bindingColumns returns the columns of both kinds of bindings. name is the kind in their
// descriptions, and role describes the column Role.
func bindingColumns[T kind.Object](name, role string, of func(obj T) binding) []kind.Column[T] {
	return []kind.Column[T]{
		kind.NameColumn[T](),
		kind.TextColumn("Role", role, func(obj T) any { return roleCell(of(obj).role) }),
		kind.AgeColumn[T](),
		kind.WideColumn("Users", "Users in the "+name,
			func(obj T) any { return subjectsCell(of(obj).subjects, rbacv1.UserKind) }),
		kind.WideColumn("Groups", "Groups in the "+name,
			func(obj T) any { return subjectsCell(of(obj).subjects, rbacv1.GroupKind) }),
		kind.WideColumn("ServiceAccounts", "ServiceAccounts in the "+name,
			func(obj T) any { return subjectsCell(of(obj).subjects, rbacv1.ServiceAccountKind) }),
	}
}

// subjectsCell returns the names of the subjects of one kind.
func subjectsCell(subjects []rbacv1.Subject, kind string) string {
	var names []string
	for _, subject := range subjects {
		switch {
		case subject.Kind != kind:
		case kind == rbacv1.ServiceAccountKind:
			names = append(names, fmt.Sprintf("%s/%s", subject.Namespace, subject.Name))
		default:
			names = append(names, subject.Name)
		}
	}
	return strings.Join(names, ", ")
}

func roleCell(ref rbacv1.RoleRef) string {
	return fmt.Sprintf("%s/%s", ref.Kind, ref.Name)
}
