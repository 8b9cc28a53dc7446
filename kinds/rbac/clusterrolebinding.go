package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	rbacv1beta1 "k8s.io/api/rbac/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func clusterRoleBindings(features *feature.Set) *registry.Resource {
	d := definition("clusterrolebindings", &rbacv1.ClusterRoleBinding{}, &rbacv1.ClusterRoleBindingList{})
	d.Default = defaultClusterRoleBinding
	d.ValidateCreate = validateClusterRoleBinding
	d.ValidateUpdate = func(b, old *rbacv1.ClusterRoleBinding) field.ErrorList {
		return validateClusterRoleBindingUpdate(b, old, features)
	}
	d.Columns = bindingColumns(
		"clusterRoleBinding", kind.FieldDoc(features, rbacv1beta1.ClusterRoleBinding{}.SwaggerDoc()["roleRef"], "roleRef", "RoleRef"),
		func(b *rbacv1.ClusterRoleBinding) binding { return binding{b.RoleRef, b.Subjects} })
	return d.Build(features)
}
