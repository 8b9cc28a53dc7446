package rbac

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
)

func TestDecisions(t *testing.T) {
	e := newEnv(t)
	read := list("get", "list", "watch")
	e.Create(clusterRolesOf, clusterRole("reader", rule(read, list(""), list("pods"))))
	e.Create(clusterRolesOf, clusterRole("scaler", rule(list("*"), list("apps"), list("*/scale"))))
	e.Create(rolesOf, role("one-map", rule(read, list(""), list("configmaps"), "settings")))
	e.Create(clusterRoleBindingsOf, clusterBinding("reader", subject("Group", "devs")))
	e.Create(clusterRoleBindingsOf, clusterBinding("scaler", subject("User", "joe")))
	bot := rbacv1.Subject{Kind: "ServiceAccount", Name: "bot", Namespace: "tools"}
	e.Create(roleBindingsOf, binding("Role", "one-map", subject("User", "jane"), subject("ServiceAccount", "local"), bot))
	e.Create(roleBindingsOf, binding("Role", "gone", subject("User", "jack")))

	named := wants("get", "configmaps", "demo")
	named.Name = "settings"
	scale := &authorizationv1.ResourceAttributes{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "scale", Namespace: "demo"}
	deployment := &authorizationv1.ResourceAttributes{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "demo"}
	cases := map[string]struct {
		user   *authenticationv1.UserInfo
		wanted *authorizationv1.ResourceAttributes
		want   registry.Decision
	}{
		"a cluster role binding holds everywhere": {userNamed("ann", "devs"), wants("list", "pods", "other"),
			registry.Decision{Allowed: true, Reason: `RBAC: allowed by ClusterRoleBinding "all-reader" of ClusterRole "reader" to Group "devs"`}},
		"and at the cluster scope": {userNamed("ann", "devs"), wants("list", "pods", ""),
			registry.Decision{Allowed: true, Reason: `RBAC: allowed by ClusterRoleBinding "all-reader" of ClusterRole "reader" to Group "devs"`}},
		"another verb":                   {userNamed("ann", "devs"), wants("delete", "pods", "demo"), registry.Decision{}},
		"another group of users":         {userNamed("ann", "ops"), wants("list", "pods", "demo"), registry.Decision{}},
		"a subresource is not its owner": {userNamed("ann", "devs"), &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Subresource: "log"}, registry.Decision{}},
		"a role holds in its namespace, for its names": {userNamed("jane"), named,
			registry.Decision{Allowed: true, Reason: `RBAC: allowed by RoleBinding "some-one-map/demo" of Role "one-map" to User "jane"`}},
		"a role says nothing of other names": {userNamed("jane"), wants("get", "configmaps", "demo"), registry.Decision{}},
		"an account of the binding's own namespace": {userNamed("system:serviceaccount:demo:local"), named,
			registry.Decision{Allowed: true, Reason: `RBAC: allowed by RoleBinding "some-one-map/demo" of Role "one-map" to ServiceAccount "local/demo"`}},
		"an account of another namespace": {userNamed("system:serviceaccount:tools:bot"), named,
			registry.Decision{Allowed: true, Reason: `RBAC: allowed by RoleBinding "some-one-map/demo" of Role "one-map" to ServiceAccount "bot/tools"`}},
		"a subresource of everything": {userNamed("joe"), scale,
			registry.Decision{Allowed: true, Reason: `RBAC: allowed by ClusterRoleBinding "all-scaler" of ClusterRole "scaler" to User "joe"`}},
		"is not the thing itself": {userNamed("joe"), deployment, registry.Decision{}},
		"a role that is not there is named": {userNamed("jack"), named,
			registry.Decision{Reason: `RBAC: role.rbac.authorization.k8s.io "gone" not found`}},
		"the privileged group": {userNamed("root", "system:masters"), wants("delete", "nodes", ""), registry.Decision{Allowed: true}},
		"nobody":               {nil, wants("list", "pods", ""), registry.Decision{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, e.decide(c.user, c.wanted)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	e := newEnv(t)
	e.Create(clusterRolesOf, clusterRole("look", rbacv1.PolicyRule{Verbs: list("get"), NonResourceURLs: list("/healthz", "/openapi/*")}))
	e.Create(clusterRoleBindingsOf, clusterBinding("look", subject("Group", "system:unauthenticated")))
	anonymous := userNamed("system:anonymous", "system:unauthenticated")
	for path, want := range map[string]bool{"/healthz": true, "/openapi/v3": true, "/healthz/ping": false, "/": false, "/openap": false} {
		decision, err := e.authorizer.Authorize(t.Context(), registry.Access{
			User: anonymous, NonResource: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
		})
		if err != nil || decision.Allowed != want {
			t.Errorf("%s: %v, %v", path, decision, err)
		}
	}
}

func TestOwnWritesAreVisibleAtOnce(t *testing.T) {
	for name, follow := range map[string]bool{"with watches": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			if follow {
				e.follow()
			}
			jane := userNamed("jane")
			for i := range 20 {
				group := string(rune('a' + i))
				if e.decide(userNamed("jane", group), wants("list", "pods", "")).Allowed {
					t.Fatal("allowed before there is a binding")
				}
				e.Create(clusterRolesOf, clusterRole(group, rule(list("list"), list(""), list("pods"))))
				e.Create(clusterRoleBindingsOf, clusterBinding(group, subject("Group", group)))
				if !e.decide(userNamed("jane", group), wants("list", "pods", "")).Allowed {
					t.Fatalf("binding %d is not seen", i)
				}
			}
			if e.decide(jane, wants("list", "pods", "")).Allowed {
				t.Error("jane is in no group")
			}
		})
	}
}

// Once a binding is known, what it allows is decided without etcd.
func TestAllowedAccessReadsNothing(t *testing.T) {
	e := newEnv(t)
	e.Create(clusterRolesOf, clusterRole("r", rule(list("list"), list(""), list("pods"))))
	e.Create(clusterRoleBindingsOf, clusterBinding("r", subject("User", "jane")))
	if !e.decide(userNamed("jane"), wants("list", "pods", "")).Allowed {
		t.Fatal("not allowed")
	}
	roles := e.Store("roles.rbac.authorization.k8s.io").Resource()
	if err := e.Catalog.Replace([]*registry.Resource{roles}, nil); err != nil { // nothing can be looked up any more
		t.Fatal(err)
	}
	if !e.decide(userNamed("jane"), wants("list", "pods", "")).Allowed {
		t.Error("the decision needed a read")
	}
	if _, err := e.authorizer.Authorize(t.Context(), registry.Access{User: userNamed("jane"), Resource: wants("get", "pods", "")}); err == nil {
		t.Error("a refusal without a consistent look")
	}
}

func TestRevocationArrivesByWatch(t *testing.T) {
	e := newEnv(t)
	e.follow()
	e.Create(clusterRolesOf, clusterRole("r", rule(list("list"), list(""), list("pods"))))
	e.Create(clusterRoleBindingsOf, clusterBinding("r", subject("User", "jane")))
	if !e.decide(userNamed("jane"), wants("list", "pods", "")).Allowed {
		t.Fatal("not allowed")
	}
	if _, err := e.Store(clusterRoleBindingsOf).Delete(t.Context(), registry.DeleteRequest{Name: "all-r", Options: &metav1.DeleteOptions{}}); err != nil {
		t.Fatal(err)
	}
	for e.decide(userNamed("jane"), wants("list", "pods", "")).Allowed {
		if t.Context().Err() != nil {
			t.Fatal("still allowed")
		}
	}
}

func TestAggregation(t *testing.T) {
	e := newEnv(t)
	labelled := func(r *rbacv1.ClusterRole, key string) *rbacv1.ClusterRole {
		r.Labels = map[string]string{key: "true"}
		return r
	}
	sum := func(name, key string) *rbacv1.ClusterRole {
		r := clusterRole(name)
		r.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{key: "true"}}}}
		return r
	}
	e.Create(clusterRolesOf, sum("admin", "to-admin"))
	e.Create(clusterRolesOf, labelled(sum("edit", "to-edit"), "to-admin"))
	e.Create(clusterRolesOf, labelled(sum("view", "to-view"), "to-edit"))
	e.Create(clusterRolesOf, labelled(clusterRole("view-pods", rule(list("get"), list(""), list("pods"))), "to-view"))
	e.Create(clusterRolesOf, labelled(clusterRole("edit-pods", rule(list("update"), list(""), list("pods"))), "to-edit"))
	for _, name := range list("admin", "edit", "view") {
		e.Create(clusterRoleBindingsOf, clusterBinding(name, subject("User", name)))
	}
	for _, c := range []struct {
		user, verb string
		want       bool
	}{{"view", "get", true}, {"view", "update", false}, {"edit", "get", true}, {"edit", "update", true}, {"admin", "get", true}, {"admin", "update", true}, {"admin", "delete", false}} {
		if got := e.decide(userNamed(c.user), wants(c.verb, "pods", "x")).Allowed; got != c.want {
			t.Errorf("%s may %s: %v", c.user, c.verb, got)
		}
	}
	e.Create(clusterRolesOf, labelled(clusterRole("view-widgets", rule(list("get"), list("acme.io"), list("widgets"))), "to-view"))
	widgets := &authorizationv1.ResourceAttributes{Verb: "get", Group: "acme.io", Resource: "widgets"}
	if !e.decide(userNamed("admin"), widgets).Allowed {
		t.Error("a role added later is not taken in")
	}
}

func TestRules(t *testing.T) {
	e := newEnv(t)
	e.Create(clusterRolesOf, clusterRole("c", rule(list("get"), list(""), list("pods")), rbacv1.PolicyRule{Verbs: list("get"), NonResourceURLs: list("/version")}))
	e.Create(rolesOf, role("r", rule(list("*"), list("apps"), list("deployments"), "web")))
	e.Create(clusterRoleBindingsOf, clusterBinding("c", subject("User", "jane")))
	e.Create(roleBindingsOf, binding("Role", "r", subject("User", "jane")))
	e.Create(roleBindingsOf, binding("Role", "gone", subject("User", "jane")))
	got, err := e.authorizer.Rules(t.Context(), userNamed("jane"), "demo")
	if err == nil || err.Error() != `role.rbac.authorization.k8s.io "gone" not found` {
		t.Errorf("error %v", err)
	}
	want := registry.RuleSet{
		Resource: []authorizationv1.ResourceRule{
			{Verbs: list("get"), APIGroups: list(""), Resources: list("pods")},
			{Verbs: list("*"), APIGroups: list("apps"), Resources: list("deployments"), ResourceNames: list("web")},
		},
		NonResource: []authorizationv1.NonResourceRule{{Verbs: list("get"), NonResourceURLs: list("/version")}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	e.Create(clusterRolesOf, clusterRole("all", rule(list("*"), list("*"), list("*"))))
	e.Create(clusterRoleBindingsOf, clusterBinding("all", subject("Group", "system:masters")))
	got, err = e.authorizer.Rules(t.Context(), userNamed("root", "system:masters"), "demo")
	if err != nil || len(got.Resource) != 1 || len(got.NonResource) != 0 {
		t.Errorf("of the privileged group, whose role says it: %v, %v", got, err)
	}
}

func BenchmarkAllowed(b *testing.B) {
	p := &policy{clusterRoles: map[string]*rbacv1.ClusterRole{"r": clusterRole("r", rule(list("list"), list(""), list("pods")))}}
	for range 100 {
		p.clusterBindings = append(p.clusterBindings, clusterBinding("r", subject("User", "joe")))
	}
	p.clusterBindings = append(p.clusterBindings, clusterBinding("r", subject("User", "jane")))
	access := registry.Access{User: userNamed("jane"), Resource: wants("list", "pods", "")}
	for b.Loop() {
		if !p.decide(access).Allowed {
			b.Fatal("not allowed")
		}
	}
}
