package flowcontrol

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/miniapi/miniapi/registry"
)

func TestMatchesSubject(t *testing.T) {
	account := &authenticationv1.UserInfo{Username: "system:serviceaccount:a:b", Groups: []string{"g"}}
	for rule, c := range map[string]struct {
		subject flowcontrolv1.Subject
		want    bool
	}{
		"the user":                    {flowcontrolv1.Subject{Kind: "User", User: &flowcontrolv1.UserSubject{Name: account.Username}}, true},
		"another user":                {flowcontrolv1.Subject{Kind: "User", User: &flowcontrolv1.UserSubject{Name: "x"}}, false},
		"all users":                   {flowcontrolv1.Subject{Kind: "User", User: &flowcontrolv1.UserSubject{Name: "*"}}, true},
		"a group":                     {flowcontrolv1.Subject{Kind: "Group", Group: &flowcontrolv1.GroupSubject{Name: "g"}}, true},
		"another group":               {flowcontrolv1.Subject{Kind: "Group", Group: &flowcontrolv1.GroupSubject{Name: "h"}}, false},
		"all groups":                  {flowcontrolv1.Subject{Kind: "Group", Group: &flowcontrolv1.GroupSubject{Name: "*"}}, true},
		"a service account":           {flowcontrolv1.Subject{Kind: "ServiceAccount", ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: "a", Name: "b"}}, true},
		"another name":                {flowcontrolv1.Subject{Kind: "ServiceAccount", ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: "a", Name: "c"}}, false},
		"all accounts of a namespace": {flowcontrolv1.Subject{Kind: "ServiceAccount", ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: "a", Name: "*"}}, true},
		"another namespace":           {flowcontrolv1.Subject{Kind: "ServiceAccount", ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: "aa", Name: "*"}}, false},
	} {
		if got := matchesSubject([]flowcontrolv1.Subject{c.subject}, account); got != c.want {
			t.Errorf("%s: %v", rule, got)
		}
	}
}

func TestMatchesRequest(t *testing.T) {
	resource := func(change func(*flowcontrolv1.ResourcePolicyRule)) *flowcontrolv1.PolicyRulesWithSubjects {
		rule := flowcontrolv1.ResourcePolicyRule{
			Verbs: []string{"get"}, APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Namespaces: []string{"n"},
		}
		change(&rule)
		return &flowcontrolv1.PolicyRulesWithSubjects{ResourceRules: []flowcontrolv1.ResourcePolicyRule{rule}}
	}
	urls := func(urls ...string) *flowcontrolv1.PolicyRulesWithSubjects {
		return &flowcontrolv1.PolicyRulesWithSubjects{
			NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: []string{"*"}, NonResourceURLs: urls}},
		}
	}
	get := func(namespace, subresource string) registry.Access {
		return registry.Access{Resource: &authorizationv1.ResourceAttributes{
			Verb: "get", Group: "apps", Resource: "deployments", Namespace: namespace, Subresource: subresource,
		}}
	}
	health := registry.Access{NonResource: &authorizationv1.NonResourceAttributes{Verb: "get", Path: "/healthz/etcd"}}
	type rule = flowcontrolv1.ResourcePolicyRule
	for name, c := range map[string]struct {
		rule   *flowcontrolv1.PolicyRulesWithSubjects
		access registry.Access
		want   bool
	}{
		"the resource":                 {resource(func(*rule) {}), get("n", ""), true},
		"another namespace":            {resource(func(*rule) {}), get("m", ""), false},
		"all namespaces":               {resource(func(r *rule) { r.Namespaces = []string{"*"} }), get("m", ""), true},
		"no namespace":                 {resource(func(r *rule) { r.Namespaces = []string{"*"} }), get("", ""), false},
		"the cluster scope":            {resource(func(r *rule) { r.ClusterScope = true }), get("", ""), true},
		"another verb":                 {resource(func(r *rule) { r.Verbs = []string{"list"} }), get("n", ""), false},
		"another group":                {resource(func(r *rule) { r.APIGroups = []string{""} }), get("n", ""), false},
		"a subresource":                {resource(func(*rule) {}), get("n", "status"), false},
		"the subresource of a rule":    {resource(func(r *rule) { r.Resources = []string{"deployments/status"} }), get("n", "status"), true},
		"all resources":                {resource(func(r *rule) { r.Resources = []string{"*"} }), get("n", "status"), true},
		"a path is no resource":        {resource(func(r *rule) { r.Resources = []string{"*"} }), health, false},
		"a path below that of a rule":  {urls("/healthz"), health, true},
		"a path that matches a prefix": {urls("/healthz/*"), health, true},
		"all paths":                    {urls("*"), health, true},
		"another path":                 {urls("/health"), health, false},
	} {
		if got := matchesRequest(c.rule, c.access); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
