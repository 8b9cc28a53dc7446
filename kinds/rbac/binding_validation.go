package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

func validateRoleBinding(b *rbacv1.RoleBinding) field.ErrorList {
	return append(validateRoleRef(b.RoleRef, "Role", "ClusterRole"), validateSubjects(b.Subjects, true)...)
}

func validateClusterRoleBinding(b *rbacv1.ClusterRoleBinding) field.ErrorList {
	return append(validateRoleRef(b.RoleRef, "ClusterRole"), validateSubjects(b.Subjects, false)...)
}

func validateRoleRef(ref rbacv1.RoleRef, kinds ...string) field.ErrorList {
	var errs field.ErrorList
	at := field.NewPath("roleRef")
	if ref.APIGroup != rbacv1.GroupName {
		errs = append(errs, field.NotSupported(at.Child("apiGroup"), ref.APIGroup, []string{rbacv1.GroupName}))
	}
	errs = append(errs, kind.Supported(at.Child("kind"), ref.Kind, kinds...)...)
	if ref.Name == "" {
		return append(errs, kind.ByTag(kind.Required(at.Child("name"), ref.Name))...)
	}
	return append(errs, kind.Invalid(at.Child("name"), ref.Name, path.ValidatePathSegmentName(ref.Name, false))...)
}

func validateSubjects(subjects []rbacv1.Subject, namespaced bool) field.ErrorList {
	var errs field.ErrorList
	for i, s := range subjects {
		at := field.NewPath("subjects").Index(i)
		errs = append(errs, kind.ByTag(kind.Required(at.Child("name"), s.Name))...)
		group := rbacv1.GroupName
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			group = ""
			if s.Name != "" {
				errs = append(errs, kind.Invalid(at.Child("name"), s.Name, utilvalidation.IsDNS1123Subdomain(s.Name))...)
			}
		case rbacv1.UserKind, rbacv1.GroupKind:
		default:
			errs = append(errs, kind.Supported(at.Child("kind"), s.Kind, rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind)...)
			continue
		}
		if s.APIGroup != group {
			errs = append(errs, field.NotSupported(at.Child("apiGroup"), s.APIGroup, []string{group}))
		}
		if s.Kind == rbacv1.ServiceAccountKind && !namespaced {
			errs = append(errs, kind.Required(at.Child("namespace"), s.Namespace)...)
		}
	}
	return errs
}

// immutableRoleRef rejects a change of the role: a user who may change subjects may lack the
// permission to grant another role.
func immutableRoleRef(ref, old rbacv1.RoleRef, features *feature.Set) field.ErrorList {
	if ref == old {
		return nil
	}
	message := "cannot change roleRef"
	if features.Enabled(feature.TagValidation) {
		message = validation.FieldImmutableErrorMsg
	}
	return kind.ByTag(field.ErrorList{field.Invalid(field.NewPath("roleRef"), kind.GoJSON(ref), message)})
}

func validateRoleBindingUpdate(b, old *rbacv1.RoleBinding, features *feature.Set) field.ErrorList {
	return append(validateRoleBinding(b), immutableRoleRef(b.RoleRef, old.RoleRef, features)...)
}

func validateClusterRoleBindingUpdate(b, old *rbacv1.ClusterRoleBinding, features *feature.Set) field.ErrorList {
	return append(validateClusterRoleBinding(b), immutableRoleRef(b.RoleRef, old.RoleRef, features)...)
}
