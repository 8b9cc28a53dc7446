package rbac

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestRoleRefIsImmutable(t *testing.T) {
	old := &rbacv1.RoleBinding{RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "viewer"}}
	grown := old.DeepCopy()
	grown.Subjects = []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "jane", APIGroup: rbacv1.GroupName}}
	validate := roleBindings(feature.Default()).Strategy.Update.Validate
	if errs := validate(t.Context(), grown, old); len(errs) != 0 {
		t.Errorf("another subject: %v", errs)
	}
	raised := old.DeepCopy()
	raised.RoleRef.Name = "admin"
	want := `roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"admin"}: field is immutable`
	if errs := validate(t.Context(), raised, old); len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("errors %v, want %s", errs, want)
	}
}

func TestSubjectsAreShownByKind(t *testing.T) {
	subjects := []rbacv1.Subject{
		{Kind: rbacv1.UserKind, Name: "jane"},
		{Kind: rbacv1.GroupKind, Name: "devs"},
		{Kind: rbacv1.UserKind, Name: "joe"},
		{Kind: rbacv1.ServiceAccountKind, Namespace: "demo", Name: "bot"},
	}
	got := registrytest.Cells(roleBindings(feature.Default()), &rbacv1.RoleBinding{Subjects: subjects})[3:]
	if diff := cmp.Diff([]any{"jane, joe", "devs", "demo/bot"}, got); diff != "" {
		t.Errorf("users, groups, accounts (-want +got):\n%s", diff)
	}
}
