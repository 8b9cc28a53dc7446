package rbac

import (
	"context"
	"os"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/kinds/feature"
	kinds "github.com/miniapi/miniapi/kinds/rbac"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// env is an authorizer of stored roles, with its admission step.
type env struct {
	*registrytest.Env
	authorizer *Authorizer
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{}
	e.authorizer = New(Config{Store: func(name schema.GroupResource) (*registry.Store, bool) {
		return e.Catalog.Snapshot().Store(name)
	}})
	e.Env = registrytest.New(t, registry.Chain{e.authorizer.Escalation(e.authorizer)}, kinds.Resources(feature.Default())...)
	return e
}

// runAuthorizer runs the authorizer until the end of the test.
func (e *env) runAuthorizer() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- e.authorizer.Run(ctx) }() // ends with the test
	e.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			e.Error(err)
		}
	})
}

func (e *env) decide(user *authenticationv1.UserInfo, request *authorizationv1.ResourceAttributes) registry.Decision {
	e.Helper()
	decision, err := e.authorizer.Authorize(e.Context(), registry.Access{User: user, Resource: request})
	if err != nil {
		e.Fatal(err)
	}
	return decision
}

// createAs creates an object as a user.
func (e *env) createAs(user *authenticationv1.UserInfo, resource string, obj runtime.Object) error {
	_, err := e.Store(resource).Create(registry.WithUser(e.Context(), user), registry.CreateRequest{
		Namespace: registrytest.Meta(obj).GetNamespace(),
		Object:    obj,
	})
	return err
}

const (
	roles               = "roles.rbac.authorization.k8s.io"
	clusterRoles        = "clusterroles.rbac.authorization.k8s.io"
	roleBindings        = "rolebindings.rbac.authorization.k8s.io"
	clusterRoleBindings = "clusterrolebindings.rbac.authorization.k8s.io"
)

func userNamed(name string, groups ...string) *authenticationv1.UserInfo {
	return &authenticationv1.UserInfo{Username: name, Groups: groups}
}

func rule(verbs, groups, resources []string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: verbs, APIGroups: groups, Resources: resources, ResourceNames: names}
}

func list(values ...string) []string { return values }

func clusterRole(name string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

func role(name string, rules ...rbacv1.PolicyRule) *rbacv1.Role {
	return &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: name}, Rules: rules}
}

func clusterBinding(role string, subjects ...rbacv1.Subject) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "all-" + role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   subjects,
	}
}

func binding(kind, role string, subjects ...rbacv1.Subject) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "some-" + role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
		Subjects:   subjects,
	}
}

// subject returns a subject. Only users and groups have an APIGroup.
func subject(kind, name string) rbacv1.Subject {
	if kind == rbacv1.ServiceAccountKind {
		return rbacv1.Subject{Kind: kind, Name: name}
	}
	return rbacv1.Subject{Kind: kind, APIGroup: rbacv1.GroupName, Name: name}
}

func resourceRequest(verb, resource, namespace string) *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{Verb: verb, Resource: resource, Namespace: namespace}
}
