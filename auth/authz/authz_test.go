package authz

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/miniapi/miniapi/registry"
)

// fixed answers the same whatever is asked.
type fixed struct {
	registry.Decision
	registry.RuleSet
	err error
}

func (f fixed) Authorize(context.Context, registry.Access) (registry.Decision, error) {
	return f.Decision, f.err
}

func (f fixed) Rules(context.Context, *authenticationv1.UserInfo, string) (registry.RuleSet, error) {
	return f.RuleSet, f.err
}

var (
	somebody = &authenticationv1.UserInfo{Username: "joe", Groups: []string{"system:authenticated"}}
	master   = &authenticationv1.UserInfo{Username: "root", Groups: []string{"system:masters"}}
	node     = &authenticationv1.UserInfo{Username: "system:node:n1", Groups: []string{"system:nodes"}}

	broken  = fixed{err: errors.New("cannot tell")}
	denying = fixed{Decision: registry.Decision{Denied: true, Reason: "no"}}
)

func TestWhoDecides(t *testing.T) {
	const nodeReason = `the Node authorizer of this server allows nothing: bind a role to the group "system:nodes"`
	allowed := registry.Decision{Allowed: true}
	for name, tc := range map[string]struct {
		chain Chain
		user  *authenticationv1.UserInfo
		want  registry.Decision
		fault string
	}{
		"nobody":                               {Chain{}, somebody, registry.Decision{}, ""},
		"masters may do everything":            {Chain{Masters{}, AlwaysDeny{}}, master, allowed, ""},
		"others may not":                       {Chain{Masters{}, AlwaysDeny{}}, somebody, registry.Decision{Reason: "Everything is forbidden."}, ""},
		"nor may who has no name":              {Chain{Masters{}, Node{}}, nil, registry.Decision{}, ""},
		"AlwaysDeny leaves it to the next":     {Chain{AlwaysDeny{}, registry.AlwaysAllow{}}, somebody, allowed, ""},
		"a denial ends the search":             {Chain{denying, registry.AlwaysAllow{}}, somebody, denying.Decision, ""},
		"so does what is allowed":              {Chain{registry.AlwaysAllow{}, denying}, somebody, allowed, ""},
		"one that cannot tell is passed over":  {Chain{broken, registry.AlwaysAllow{}}, somebody, allowed, ""},
		"if nobody else allows it, that shows": {Chain{broken, AlwaysDeny{}}, somebody, registry.Decision{Reason: "Everything is forbidden."}, "cannot tell"},
		"Node says nothing of others":          {Chain{Node{}}, somebody, registry.Decision{}, ""},
		"reasons add up":                       {Chain{Node{}, AlwaysDeny{}}, node, registry.Decision{Reason: nodeReason + "\nEverything is forbidden."}, ""},
		"a name alone makes no node":           {Chain{Node{}}, &authenticationv1.UserInfo{Username: "system:node:n1"}, registry.Decision{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.chain.Authorize(t.Context(), registry.Access{User: tc.user})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if (err != nil || tc.fault != "") && (err == nil || err.Error() != tc.fault) {
				t.Errorf("fault %v, want %q", err, tc.fault)
			}
		})
	}
}

func TestRulesOfAll(t *testing.T) {
	rule := func(verb string) fixed {
		return fixed{RuleSet: registry.RuleSet{
			Resource:    []authorizationv1.ResourceRule{{Verbs: []string{verb}}},
			NonResource: []authorizationv1.NonResourceRule{{Verbs: []string{verb}}},
		}}
	}
	chain := Chain{Masters{}, Node{}, rule("get"), AlwaysDeny{}, rule("list")}
	want := registry.RuleSet{
		Resource:    []authorizationv1.ResourceRule{{Verbs: []string{"get"}}, {Verbs: []string{"list"}}},
		NonResource: []authorizationv1.NonResourceRule{{Verbs: []string{"get"}}, {Verbs: []string{"list"}}},
	}
	got, err := chain.Rules(t.Context(), somebody, "default")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	want.Incomplete = true
	got, err = chain.Rules(t.Context(), node, "default")
	if diff := cmp.Diff(want, got); diff != "" || err == nil {
		t.Errorf("of a node: %v\n%s", err, diff)
	}
}
