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

// fixed is an authorizer with a constant result.
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
	joe    = &authenticationv1.UserInfo{Username: "joe", Groups: []string{"system:authenticated"}}
	master = &authenticationv1.UserInfo{Username: "root", Groups: []string{"system:masters"}}

	broken     = fixed{err: errors.New("broken")}
	refusing   = fixed{Decision: registry.Decision{Reason: "not yours"}}
	incomplete = fixed{RuleSet: registry.RuleSet{Incomplete: true}, err: errors.New("no rules")}
	denying    = fixed{Decision: registry.Decision{Denied: true, Reason: "no"}}
)

// chainOf returns a chain of at most four authorizers with the names first to fourth.
func chainOf(authorizers ...registry.Authorizer) Chain {
	chain := Chain{}
	for i, authorizer := range authorizers {
		chain = append(chain, Named{[]string{"first", "second", "third", "fourth"}[i], authorizer})
	}
	return chain
}

func TestAuthorize(t *testing.T) {
	allowed := registry.Decision{Allowed: true}
	for name, tc := range map[string]struct {
		chain Chain
		user  *authenticationv1.UserInfo
		want  registry.Decision
		err   string
	}{
		"an empty chain":                                   {chainOf(), joe, registry.Decision{}, ""},
		"system:masters is allowed":                        {chainOf(Masters{}, AlwaysDeny{}), master, allowed, ""},
		"Masters has no opinion on other users":            {chainOf(Masters{}, AlwaysDeny{}), joe, registry.Decision{Reason: "second: Everything is forbidden."}, ""},
		"no user":                                          {chainOf(Masters{}), nil, registry.Decision{}, ""},
		"AlwaysDeny has no opinion":                        {chainOf(AlwaysDeny{}, registry.AlwaysAllow{}), joe, allowed, ""},
		"a denial is final":                                {chainOf(denying, registry.AlwaysAllow{}), joe, denying.Decision, ""},
		"an approval is final":                             {chainOf(registry.AlwaysAllow{}, denying), joe, allowed, ""},
		"an error is ignored if a later authorizer allows": {chainOf(broken, registry.AlwaysAllow{}), joe, allowed, ""},
		"an error is returned if no authorizer decides":    {chainOf(broken, AlwaysDeny{}), joe, registry.Decision{Reason: "second: Everything is forbidden."}, "broken"},
		"reasons are joined":                               {chainOf(refusing, AlwaysDeny{}), joe, registry.Decision{Reason: "first: not yours\nsecond: Everything is forbidden."}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.chain.Authorize(t.Context(), registry.Access{User: tc.user})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if (err != nil || tc.err != "") && (err == nil || err.Error() != tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}

func TestRules(t *testing.T) {
	rule := func(verb string) fixed {
		return fixed{RuleSet: registry.RuleSet{
			Resource:    []authorizationv1.ResourceRule{{Verbs: []string{verb}}},
			NonResource: []authorizationv1.NonResourceRule{{Verbs: []string{verb}}},
		}}
	}
	chain := chainOf(Masters{}, rule("get"), AlwaysDeny{}, rule("list"))
	want := registry.RuleSet{
		Resource:    []authorizationv1.ResourceRule{{Verbs: []string{"get"}}, {Verbs: []string{"list"}}},
		NonResource: []authorizationv1.NonResourceRule{{Verbs: []string{"get"}}, {Verbs: []string{"list"}}},
	}
	got, err := chain.Rules(t.Context(), joe, "default")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	want.Incomplete = true
	got, err = append(chain, Named{"incomplete", incomplete}).Rules(t.Context(), joe, "default")
	if diff := cmp.Diff(want, got); diff != "" || err == nil {
		t.Errorf("incomplete rules: %v\n%s", err, diff)
	}
}
