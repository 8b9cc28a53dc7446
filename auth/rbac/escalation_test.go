package rbac

import (
	"context"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// newDelegation has the users jane, who may read pods in all namespaces, boss, who may escalate
// and bind, and root, who may do everything.
func newDelegation(t *testing.T) *env {
	e := newEnv(t)
	e.Create(clusterRoles, clusterRole("reader", rule(list("get", "list"), list(""), list("pods"))))
	e.Create(clusterRoles, clusterRole("writer", rule(list("get", "delete", "create"), list(""), list("pods"))))
	e.Create(clusterRoles, clusterRole("everything", fullAuthority()...))
	e.Create(clusterRoles, clusterRole("boss",
		rule(list("escalate"), list(rbacv1.GroupName), list("roles", "clusterroles")),
		rule(list("bind"), list(rbacv1.GroupName), list("clusterroles"), "writer")))
	e.Create(clusterRoleBindings, clusterBinding("reader", subject("User", "jane")))
	e.Create(clusterRoleBindings, clusterBinding("boss", subject("User", "boss")))
	e.Create(clusterRoleBindings, clusterBinding("everything", subject("User", "root")))
	return e
}

func renamed[T runtime.Object](obj T) T {
	registrytest.Meta(obj).SetName("new")
	return obj
}

// referring returns a ClusterRoleBinding to a role of a kind.
func referring(kind, role string) *rbacv1.ClusterRoleBinding {
	b := renamed(clusterBinding(role))
	b.RoleRef.Kind = kind
	return b
}

// inGroup returns a binding to a role of an API group.
func inGroup(b *rbacv1.ClusterRoleBinding, group string) *rbacv1.ClusterRoleBinding {
	b.RoleRef.APIGroup = group
	return b
}

func TestPrivilegeEscalationIsForbidden(t *testing.T) {
	sum := clusterRole("sum")
	sum.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{}}}
	held := rule(list("list"), list(""), list("pods"), "web")
	more := rule(list("delete", "get"), list(""), list("pods"))
	const lacks = `is attempting to grant RBAC permissions not currently held:` + "\n"
	const notSupported = `ClusterRoleBinding.rbac.authorization.k8s.io "new" is invalid: roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"`
	cases := map[string]struct {
		user     string
		resource string
		obj      runtime.Object
		want     string // the error, "" for none
	}{
		"a role with permissions of the user": {"jane", roles, role("new", held), ""},
		"a role with other permissions": {"jane", roles, role("new", more),
			`roles.rbac.authorization.k8s.io "new" is forbidden: user "jane" (groups=["devs"]) ` + lacks + `{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}`},
		"missing permissions are listed by resource": {"jane", clusterRoles,
			clusterRole("new", rule(list("create", "delete"), list("", "apps"), list("pods"), "a"), rbacv1.PolicyRule{Verbs: list("get"), NonResourceURLs: list("/metrics")}),
			`clusterroles.rbac.authorization.k8s.io "new" is forbidden: user "jane" (groups=["devs"]) ` + lacks +
				`{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["create" "delete"]}` + "\n" +
				`{APIGroups:["apps"], Resources:["pods"], ResourceNames:["a"], Verbs:["create" "delete"]}` + "\n" +
				`{NonResourceURLs:["/metrics"], Verbs:["get"]}`},
		"the verb escalate allows it":                   {"boss", clusterRoles, clusterRole("new", more), ""},
		"an aggregation rule needs all permissions":     {"jane", clusterRoles, sum.DeepCopy(), `clusterroles.rbac.authorization.k8s.io "sum" is forbidden: must have cluster-admin privileges to use the aggregationRule`},
		"a user with all permissions":                   {"root", clusterRoles, sum.DeepCopy(), ""},
		"a binding to a role of the user":               {"jane", clusterRoleBindings, renamed(clusterBinding("reader", subject("User", "joe"))), ""},
		"a binding to a role with other permissions":    {"jane", roleBindings, renamed(binding("ClusterRole", "writer", subject("User", "joe"))), `rolebindings.rbac.authorization.k8s.io "new" is forbidden: user "jane" (groups=["devs"]) ` + lacks + `{APIGroups:[""], Resources:["pods"], Verbs:["delete" "create"]}`},
		"the verb bind allows it":                       {"boss", roleBindings, renamed(binding("ClusterRole", "writer", subject("User", "joe"))), ""},
		"the verb bind for another role does not":       {"boss", roleBindings, renamed(binding("ClusterRole", "reader", subject("User", "joe"))), `rolebindings.rbac.authorization.k8s.io "new" is forbidden: user "boss" (groups=["devs"]) ` + lacks + `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`},
		"a binding to a missing role":                   {"jane", roleBindings, renamed(binding("Role", "gone")), `rolebindings.rbac.authorization.k8s.io "gone" not found`},
		"a cluster role binding to a role":              {"jane", clusterRoleBindings, referring("Role", "r"), "Namespace parameter required."},
		"the same by a user with all permissions":       {"root", clusterRoleBindings, referring("Role", "r"), notSupported},
		"the same by the privileged group":              {"system:masters", clusterRoleBindings, referring("Role", "r"), notSupported},
		"a binding to no name":                          {"jane", clusterRoleBindings, referring("ClusterRole", ""), "Name parameter required."},
		"a binding to an invalid name":                  {"jane", clusterRoleBindings, referring("ClusterRole", "a/b"), `Name parameter invalid: "a/b": may not contain '/'`},
		"the verb bind in another API group":            {"boss", clusterRoleBindings, inGroup(referring("ClusterRole", "writer"), "acme.io"), `clusterrolebindings.rbac.authorization.k8s.io "new" is forbidden: user "boss" (groups=["devs"]) ` + lacks + `{APIGroups:[""], Resources:["pods"], Verbs:["get" "delete" "create"]}`},
		"the privileged group is not checked":           {"system:masters", roleBindings, renamed(binding("Role", "gone")), ""},
		"a role binding by a user with all permissions": {"root", roleBindings, renamed(binding("ClusterRole", "writer", subject("User", "joe"))), ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := newDelegation(t)
			user := userNamed(c.user, "devs")
			if c.user == privilegedGroup {
				user = userNamed("admin", privilegedGroup)
			}
			err := e.createAs(user, c.resource, c.obj)
			if got := text(err); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// The errors of missing roles name the resource of the request, as in kube-apiserver.
func TestRolesThatAreMissing(t *testing.T) {
	e := newDelegation(t)
	e.Create(clusterRoleBindings, clusterBinding("gone", subject("User", "jane")))
	err := e.createAs(userNamed("jane"), roles, role("new", rule(list("delete"), list(""), list("pods"))))
	const want = `roles.rbac.authorization.k8s.io "new" is forbidden: user "jane" (groups=[]) is attempting to grant RBAC permissions not currently held:` + "\n" +
		`{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}; resolution errors: [roles.rbac.authorization.k8s.io "gone" not found]`
	if got := text(err); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestEscalationByUpdate(t *testing.T) {
	e := newDelegation(t)
	e.Create(roles, role("r", rule(list("get"), list(""), list("pods"))))
	update := func(change func(*rbacv1.Role)) error {
		return e.update(userNamed("jane"), roles, "demo", "r", func(obj runtime.Object) { change(obj.(*rbacv1.Role)) })
	}
	if err := update(func(r *rbacv1.Role) { r.Rules[0].Verbs = list("list") }); err != nil {
		t.Errorf("permissions of the user: %v", err)
	}
	if err := update(func(r *rbacv1.Role) { r.Rules[0].Verbs = list("delete") }); !apierrors.IsForbidden(err) {
		t.Errorf("other permissions: %v", err)
	}

	e.Create(clusterRoles, clusterRole("big", rule(list("*"), list("*"), list("*"))))
	finalizers := func(obj runtime.Object) { registrytest.Meta(obj).SetFinalizers(list("acme.io/x")) }
	if err := e.update(userNamed("jane"), clusterRoles, "", "big", finalizers); err != nil {
		t.Errorf("finalizers of a role with other permissions: %v", err)
	}
	labels := func(obj runtime.Object) { registrytest.Meta(obj).SetLabels(map[string]string{"a": "b"}) }
	if err := e.update(userNamed("jane"), clusterRoles, "", "big", labels); !apierrors.IsForbidden(err) {
		t.Errorf("labels of a role with other permissions: %v", err)
	}
}

func (e *env) update(user *authenticationv1.UserInfo, resource, namespace, name string, change func(runtime.Object)) error {
	_, err := e.Store(resource).Update(registry.WithUser(e.Context(), user), registry.UpdateRequest{
		Namespace: namespace, Name: name,
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			obj := current.DeepCopyObject()
			change(obj)
			return obj, nil
		},
	})
	return err
}
