package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func roles() *registry.Resource {
	rules := strategy()
	rules.Create.Validate = kind.CheckCreate(validateRole)
	rules.Update.Validate = kind.CheckAgain(validateRole)
	return kind.Definition{
		GroupVersion: rbacv1.SchemeGroupVersion,
		Object:       &rbacv1.Role{},
		List:         &rbacv1.RoleList{},
		Resource:     "roles",
		Finalizers:   kind.Finalizers,
		Namespaced:   true,
		Strategy:     rules,
	}.Build()
}
