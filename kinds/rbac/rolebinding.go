package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	rbacv1beta1 "k8s.io/api/rbac/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func roleBindings(features *feature.Set) *registry.Resource {
	d := definition("rolebindings", &rbacv1.RoleBinding{}, &rbacv1.RoleBindingList{})
	d.Namespaced = true
	d.Default = defaultRoleBinding
	d.ValidateCreate = validateRoleBinding
	d.ValidateUpdate = func(b, old *rbacv1.RoleBinding) field.ErrorList { return validateRoleBindingUpdate(b, old, features) }
	d.Columns = bindingColumns(
		"roleBinding", kind.FieldDoc(features, rbacv1beta1.RoleBinding{}.SwaggerDoc()["roleRef"], "roleRef", "RoleRef"),
		func(b *rbacv1.RoleBinding) binding { return binding{b.RoleRef, b.Subjects} })
	return d.Build(features)
}
