package expression

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/user"
	upstream "k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/miniapi/miniapi/registry"
)

// decider allows, denies or has no opinion depending on the verb, and records the access.
type decider struct {
	registry.AlwaysAllow
	access registry.Access
}

func (d *decider) Authorize(_ context.Context, access registry.Access) (registry.Decision, error) {
	d.access = access
	verb := ""
	if access.Resource != nil {
		verb = access.Resource.Verb
	} else {
		verb = access.NonResource.Verb
	}
	return registry.Decision{Allowed: verb == "get", Denied: verb == "delete", Reason: "because"}, nil
}

func TestAuthorizerAttributes(t *testing.T) {
	u := &user.DefaultInfo{Name: "u", Groups: []string{"g"}, Extra: map[string][]string{"k": {"v"}}}
	selector := func(text string) labels.Requirements {
		s, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		requirements, _ := s.Requirements()
		return requirements
	}
	info := &authenticationv1.UserInfo{Username: "u", Groups: []string{"g"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}}}
	for _, c := range []struct {
		rule       string
		attributes upstream.AttributesRecord
		want       registry.Access
		decision   upstream.Decision
	}{
		{"a resource request", upstream.AttributesRecord{User: u, Verb: "get", ResourceRequest: true, APIGroup: "apps", APIVersion: "v1",
			Resource: "deployments", Subresource: "scale", Namespace: "n", Name: "d"},
			registry.Access{User: info, Resource: &authorizationv1.ResourceAttributes{Verb: "get", Group: "apps", Version: "v1",
				Resource: "deployments", Subresource: "scale", Namespace: "n", Name: "d"}}, upstream.DecisionAllow},
		{"a non-resource request", upstream.AttributesRecord{User: u, Verb: "delete", Path: "/x"},
			registry.Access{User: info, NonResource: &authorizationv1.NonResourceAttributes{Verb: "delete", Path: "/x"}}, upstream.DecisionDeny},
		{"field and label selectors", upstream.AttributesRecord{User: u, Verb: "list", ResourceRequest: true, Resource: "pods",
			FieldSelectorRequirements: fields.ParseSelectorOrDie("a=b,c!=d").Requirements(), LabelSelectorRequirements: selector("!x,y in (z)")},
			registry.Access{User: info, Resource: &authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods",
				FieldSelector: &authorizationv1.FieldSelectorAttributes{Requirements: []metav1.FieldSelectorRequirement{
					{Key: "a", Operator: "In", Values: []string{"b"}}, {Key: "c", Operator: "NotIn", Values: []string{"d"}},
				}},
				LabelSelector: &authorizationv1.LabelSelectorAttributes{Requirements: []metav1.LabelSelectorRequirement{
					{Key: "x", Operator: "DoesNotExist", Values: []string{}}, {Key: "y", Operator: "In", Values: []string{"z"}},
				}}}}, upstream.DecisionNoOpinion},
	} {
		t.Run(c.rule, func(t *testing.T) {
			d := &decider{}
			decision, reason, err := authorizer{d}.Authorize(t.Context(), c.attributes)
			if err != nil || reason != "because" || decision != c.decision {
				t.Errorf("decision %v, reason %q, error %v", decision, reason, err)
			}
			if diff := cmp.Diff(c.want, d.access); diff != "" {
				t.Errorf("access (-want +got):\n%s", diff)
			}
		})
	}
}
