package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/registry"
)

// actors lets root do everything, anybody else only impersonate what is listed
// as resource/name, and ask who they are.
type actors struct {
	registry.AlwaysAllow
	mayBe []string
}

func (a actors) Authorize(_ context.Context, access registry.Access) (registry.Decision, error) {
	wanted := access.Resource
	if access.User.Username == "root" || wanted == nil || wanted.Resource == "selfsubjectreviews" {
		return registry.Decision{Allowed: true}, nil
	}
	key := wanted.Resource + "/" + wanted.Name
	if wanted.Subresource != "" {
		key = wanted.Resource + "/" + wanted.Subresource + "/" + wanted.Name
	}
	return registry.Decision{Allowed: wanted.Verb == "impersonate" && slices.Contains(a.mayBe, key)}, nil
}

func TestImpersonation(t *testing.T) {
	s := newAuthorizedStack(t, actors{mayBe: []string{"users/joe", "groups/devs", "uids/u1", "userextras/acme.io/team/blue"}},
		func(c *Config) { c.User = userOfHeader })
	const denied = ` is forbidden: User \"jane\" cannot impersonate resource `
	tests := []struct {
		name    string
		headers []string
		want    authenticationv1.UserInfo
		err     string
	}{
		{"nobody else", []string{"User: jane"}, authenticationv1.UserInfo{Username: "jane"}, ""},
		{"a user", []string{"User: jane", "Impersonate-User: joe"},
			authenticationv1.UserInfo{Username: "joe", Groups: []string{"system:authenticated"}}, ""},
		{"all of a user", []string{"User: jane", "Impersonate-User: joe", "Impersonate-Group: devs", "Impersonate-Uid: u1", "Impersonate-Extra-Acme.io%2fteam: blue"},
			authenticationv1.UserInfo{Username: "joe", UID: "u1", Groups: []string{"devs", "system:authenticated"},
				Extra: map[string]authenticationv1.ExtraValue{"acme.io/team": {"blue"}}}, ""},
		{"a service account is in its groups", []string{"Impersonate-User: system:serviceaccount:demo:bot"},
			authenticationv1.UserInfo{Username: "system:serviceaccount:demo:bot",
				Groups: []string{"system:serviceaccounts", "system:serviceaccounts:demo", "system:authenticated"}}, ""},
		{"anonymous is not authenticated", []string{"Impersonate-User: system:anonymous"},
			authenticationv1.UserInfo{Username: "system:anonymous", Groups: []string{"system:unauthenticated"}}, ""},
		{"another user", []string{"User: jane", "Impersonate-User: ann"}, authenticationv1.UserInfo{},
			`users \"ann\"` + denied + `\"users\" in API group \"\" at the cluster scope`},
		{"another group", []string{"User: jane", "Impersonate-User: joe", "Impersonate-Group: system:masters"}, authenticationv1.UserInfo{},
			`groups \"system:masters\"` + denied + `\"groups\" in API group \"\" at the cluster scope`},
		{"another uid", []string{"User: jane", "Impersonate-User: joe", "Impersonate-Uid: u2"}, authenticationv1.UserInfo{},
			`uids.authentication.k8s.io \"u2\"` + denied + `\"uids\" in API group \"authentication.k8s.io\" at the cluster scope`},
		{"another value", []string{"User: jane", "Impersonate-User: joe", "Impersonate-Extra-Acme.io%2fteam: red"}, authenticationv1.UserInfo{},
			`userextras.authentication.k8s.io \"red\"` + denied + `\"userextras/acme.io/team\" in API group \"authentication.k8s.io\" at the cluster scope`},
		{"another service account", []string{"User: jane", "Impersonate-User: system:serviceaccount:demo:bot"}, authenticationv1.UserInfo{},
			`serviceaccounts \"bot\"` + denied + `\"serviceaccounts\" in API group \"\" in the namespace \"demo\"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := s.do("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", test.headers...)
			if test.err != "" {
				if got.status != http.StatusForbidden || !strings.Contains(got.body, test.err) {
					t.Errorf("got %d %s", got.status, got.body)
				}
				return
			}
			var review authenticationv1.SelfSubjectReview
			if err := json.Unmarshal([]byte(got.body), &review); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, review.Status.UserInfo); diff != "" {
				t.Errorf("user (-want +got):\n%s", diff)
			}
		})
	}
	got := s.must(http.StatusBadRequest, s.do("GET", "/api", "", "Impersonate-Group: devs"))
	if !strings.Contains(got.body, "without impersonating a user name") {
		t.Errorf("a group without a user: %s", got.body)
	}
}
