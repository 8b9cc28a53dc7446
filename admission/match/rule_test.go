package match

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestRules(t *testing.T) {
	env := registrytest.New(t, nil)
	pods := env.Store("pods").Resource()
	request := func(resource *registry.Resource, namespace, subresource string) *Request {
		r := &Request{Namespace: namespace, Attributes: &registry.Attributes{
			Resource: resource, Operation: registry.OperationUpdate, Subresource: subresource, Name: "a",
		}}
		r.Target.Resource = schema.GroupVersionResource{Group: resource.Group, Version: "v1", Resource: resource.Name}
		return r
	}
	type change func(*rule)
	resources := func(names ...string) change { return func(r *rule) { r.Resources = names } }
	scope := func(s admissionregistrationv1.ScopeType) change { return func(r *rule) { r.Scope = &s } }
	pod, status, namespace := request(pods, "n", ""), request(pods, "n", "status"), request(env.Store("namespaces").Resource(), "a", "")
	for _, c := range []struct {
		name    string
		change  change
		request *Request
		want    bool
	}{
		{"an exact match", resources("pods"), pod, true},
		{"a resource does not match its subresources", resources("pods"), status, false},
		{"* does not match subresources", resources("*"), status, false},
		{"a subresource", resources("pods/status"), status, true},
		{"all subresources of a resource and the resource", resources("pods/*"), pod, true},
		{"a subresource of every resource", resources("*/status"), status, true},
		{"*/* matches everything", resources("*/*"), status, true},
		{"another operation", func(r *rule) { r.Operations = []admissionregistrationv1.OperationType{"CREATE"} }, pod, false},
		{"any operation", func(r *rule) { r.Operations = []admissionregistrationv1.OperationType{"*"} }, pod, true},
		{"another group", func(r *rule) { r.APIGroups = []string{"apps"} }, pod, false},
		{"another version", func(r *rule) { r.APIVersions = []string{"v2"} }, pod, false},
		{"any group and version", func(r *rule) { r.APIGroups, r.APIVersions = []string{"*"}, []string{"*"} }, pod, true},
		{"another name", func(r *rule) { r.names = []string{"b"} }, pod, false},
		{"one of the names", func(r *rule) { r.names = []string{"b", "a"} }, pod, true},
		{"namespaced scope matches a pod", scope("Namespaced"), pod, true},
		{"cluster scope does not match a pod", scope("Cluster"), pod, false},
		{"cluster scope matches a namespace", func(r *rule) { resources("*")(r); scope("Cluster")(r) }, namespace, true},
		{"namespaced scope does not match a namespace", func(r *rule) { resources("*")(r); scope("Namespaced")(r) }, namespace, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rule{RuleWithOperations: &admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{"UPDATE"},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}}
			c.change(&r)
			if got := r.matches(c.request, &c.request.Target); got != c.want {
				t.Errorf("matches: %v", got)
			}
		})
	}
}
