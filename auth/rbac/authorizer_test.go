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
	e.Create(clusterRoles, clusterRole("reader", rule(read, list(""), list("pods"))))
	e.Create(clusterRoles, clusterRole("scaler", rule(list("*"), list("apps"), list("*/scale"))))
	e.Create(roles, role("one-map", rule(read, list(""), list("configmaps"), "settings")))
	e.Create(clusterRoleBindings, clusterBinding("reader", subject("Group", "devs")))
	e.Create(clusterRoleBindings, clusterBinding("scaler", subject("User", "joe")))
	bot := rbacv1.Subject{Kind: "ServiceAccount", Name: "bot", Namespace: "tools"}
	e.Create(roleBindings, binding("Role", "one-map", subject("User", "jane"), subject("ServiceAccount", "local"), bot))
	e.Create(roleBindings, binding("Role", "gone", subject("User", "jack")))

	named := resourceRequest("get", "configmaps", "demo")
	named.Name = "settings"
	scale := &authorizationv1.ResourceAttributes{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "scale", Namespace: "demo"}
	deployment := &authorizationv1.ResourceAttributes{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "demo"}
	cases := map[string]struct {
		user    *authenticationv1.UserInfo
		request *authorizationv1.ResourceAttributes
		want    registry.Decision
	}{
		"a cluster role binding applies to all namespaces": {userNamed("ann", "devs"), resourceRequest("list", "pods", "other"),
			registry.Decision{Allowed: true, Reason: `RBAC: allowed by ClusterRoleBinding "all-reader" of ClusterRole "reader" to Group "devs"`}},
		"a cluster role binding applies to the cluster scope": {userNamed("ann", "devs"), resourceRequest("list", "pods", ""),
			registry.Decision{Allowed: true, Reason: `RBAC: allowed by ClusterRoleBinding "all-reader" of ClusterRole "reader" to Group "devs"`}},
		"a verb that is not in the rule":                  {userNamed("ann", "devs"), resourceRequest("delete", "pods", "demo"), registry.Decision{}},
		"a group that is not in the binding":              {userNamed("ann", "ops"), resourceRequest("list", "pods", "demo"), registry.Decision{}},
		"a rule for a resource excludes its subresources": {userNamed("ann", "devs"), &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Subresource: "log"}, registry.Decision{}},
		"a role applies to its namespace and names": {userNamed("jane"), named,
			registry.Decision{Allowed: true, Reason: `RBAC: allowed by RoleBinding "some-one-map/demo" of Role "one-map" to User "jane"`}},
		"a role with names excludes other names": {userNamed("jane"), resourceRequest("get", "configmaps", "demo"), registry.Decision{}},
		"a service account in the namespace of the binding": {userNamed("system:serviceaccount:demo:local"), named,
			registry.Decision{Allowed: true, Reason: `RBAC: allowed by RoleBinding "some-one-map/demo" of Role "one-map" to ServiceAccount "local/demo"`}},
		"a service account in another namespace": {userNamed("system:serviceaccount:tools:bot"), named,
			registry.Decision{Allowed: true, Reason: `RBAC: allowed by RoleBinding "some-one-map/demo" of Role "one-map" to ServiceAccount "bot/tools"`}},
		"a subresource of all resources": {userNamed("joe"), scale,
			registry.Decision{Allowed: true, Reason: `RBAC: allowed by ClusterRoleBinding "all-scaler" of ClusterRole "scaler" to User "joe"`}},
		"a rule for a subresource excludes the resource": {userNamed("joe"), deployment, registry.Decision{}},
		"a missing role is in the reason": {userNamed("jack"), named,
			registry.Decision{Reason: `RBAC: role.rbac.authorization.k8s.io "gone" not found`}},
		"the privileged group": {userNamed("root", "system:masters"), resourceRequest("delete", "nodes", ""), registry.Decision{Allowed: true}},
		"no user":              {nil, resourceRequest("list", "pods", ""), registry.Decision{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, e.decide(c.user, c.request)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNonResourcePaths(t *testing.T) {
	e := newEnv(t)
	e.Create(clusterRoles, clusterRole("look", rbacv1.PolicyRule{Verbs: list("get"), NonResourceURLs: list("/healthz", "/openapi/*")}))
	e.Create(clusterRoleBindings, clusterBinding("look", subject("Group", "system:unauthenticated")))
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

func TestOwnWritesTakeEffectImmediately(t *testing.T) {
	for name, run := range map[string]bool{"with Run": true, "without Run": false} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			if run {
				e.runAuthorizer()
			}
			jane := userNamed("jane")
			for i := range 20 {
				group := string(rune('a' + i))
				if e.decide(userNamed("jane", group), resourceRequest("list", "pods", "")).Allowed {
					t.Fatal("allowed without a binding")
				}
				e.Create(clusterRoles, clusterRole(group, rule(list("list"), list(""), list("pods"))))
				e.Create(clusterRoleBindings, clusterBinding(group, subject("Group", group)))
				if !e.decide(userNamed("jane", group), resourceRequest("list", "pods", "")).Allowed {
					t.Fatalf("binding %d has no effect", i)
				}
			}
			if e.decide(jane, resourceRequest("list", "pods", "")).Allowed {
				t.Error("jane is in no group")
			}
		})
	}
}

// A request that a known binding allows needs no read.
func TestAllowedRequestReadsNothing(t *testing.T) {
	e := newEnv(t)
	e.Create(clusterRoles, clusterRole("r", rule(list("list"), list(""), list("pods"))))
	e.Create(clusterRoleBindings, clusterBinding("r", subject("User", "jane")))
	if !e.decide(userNamed("jane"), resourceRequest("list", "pods", "")).Allowed {
		t.Fatal("not allowed")
	}
	roles := e.Store("roles.rbac.authorization.k8s.io").Resource()
	if err := e.Catalog.Replace([]*registry.Resource{roles}, nil); err != nil { // every read fails
		t.Fatal(err)
	}
	if !e.decide(userNamed("jane"), resourceRequest("list", "pods", "")).Allowed {
		t.Error("the decision needed a read")
	}
	if _, err := e.authorizer.Authorize(t.Context(), registry.Access{User: userNamed("jane"), Resource: resourceRequest("get", "pods", "")}); err == nil {
		t.Error("denied without a consistent read")
	}
}

func TestWatchReportsRevocation(t *testing.T) {
	e := newEnv(t)
	e.runAuthorizer()
	e.Create(clusterRoles, clusterRole("r", rule(list("list"), list(""), list("pods"))))
	e.Create(clusterRoleBindings, clusterBinding("r", subject("User", "jane")))
	if !e.decide(userNamed("jane"), resourceRequest("list", "pods", "")).Allowed {
		t.Fatal("not allowed")
	}
	if _, err := e.Store(clusterRoleBindings).Delete(t.Context(), registry.DeleteRequest{Name: "all-r", Options: &metav1.DeleteOptions{}}); err != nil {
		t.Fatal(err)
	}
	for e.decide(userNamed("jane"), resourceRequest("list", "pods", "")).Allowed {
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
	e.Create(clusterRoles, sum("admin", "to-admin"))
	e.Create(clusterRoles, labelled(sum("edit", "to-edit"), "to-admin"))
	e.Create(clusterRoles, labelled(sum("view", "to-view"), "to-edit"))
	e.Create(clusterRoles, labelled(clusterRole("view-pods", rule(list("get"), list(""), list("pods"))), "to-view"))
	e.Create(clusterRoles, labelled(clusterRole("edit-pods", rule(list("update"), list(""), list("pods"))), "to-edit"))
	for _, name := range list("admin", "edit", "view") {
		e.Create(clusterRoleBindings, clusterBinding(name, subject("User", name)))
	}
	for _, c := range []struct {
		user, verb string
		want       bool
	}{{"view", "get", true}, {"view", "update", false}, {"edit", "get", true}, {"edit", "update", true}, {"admin", "get", true}, {"admin", "update", true}, {"admin", "delete", false}} {
		if got := e.decide(userNamed(c.user), resourceRequest(c.verb, "pods", "x")).Allowed; got != c.want {
			t.Errorf("%s may %s: %v", c.user, c.verb, got)
		}
	}
	e.Create(clusterRoles, labelled(clusterRole("view-widgets", rule(list("get"), list("acme.io"), list("widgets"))), "to-view"))
	widgets := &authorizationv1.ResourceAttributes{Verb: "get", Group: "acme.io", Resource: "widgets"}
	if !e.decide(userNamed("admin"), widgets).Allowed {
		t.Error("a role created later is not aggregated")
	}
}

func TestRules(t *testing.T) {
	e := newEnv(t)
	e.Create(clusterRoles, clusterRole("c", rule(list("get"), list(""), list("pods")), rbacv1.PolicyRule{Verbs: list("get"), NonResourceURLs: list("/version")}))
	e.Create(roles, role("r", rule(list("*"), list("apps"), list("deployments"), "web")))
	e.Create(clusterRoleBindings, clusterBinding("c", subject("User", "jane")))
	e.Create(roleBindings, binding("Role", "r", subject("User", "jane")))
	e.Create(roleBindings, binding("Role", "gone", subject("User", "jane")))
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
	e.Create(clusterRoles, clusterRole("all", rule(list("*"), list("*"), list("*"))))
	e.Create(clusterRoleBindings, clusterBinding("all", subject("Group", "system:masters")))
	got, err = e.authorizer.Rules(t.Context(), userNamed("root", "system:masters"), "demo")
	if err != nil || len(got.Resource) != 1 || len(got.NonResource) != 0 {
		t.Errorf("rules of the privileged group: %v, %v", got, err)
	}
}

func BenchmarkAllowed(b *testing.B) {
	p := &policy{clusterRoles: map[string]*rbacv1.ClusterRole{"r": clusterRole("r", rule(list("list"), list(""), list("pods")))}}
	for range 100 {
		p.clusterBindings = append(p.clusterBindings, clusterBinding("r", subject("User", "joe")))
	}
	p.clusterBindings = append(p.clusterBindings, clusterBinding("r", subject("User", "jane")))
	access := registry.Access{User: userNamed("jane"), Resource: resourceRequest("list", "pods", "")}
	for b.Loop() {
		if !p.decide(access).Allowed {
			b.Fatal("not allowed")
		}
	}
}
