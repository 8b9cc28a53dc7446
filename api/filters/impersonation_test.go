package filters

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/registry"
)

// allowImpersonation lets users impersonate the listed resource/name, and nothing else.
func allowImpersonation(allowed ...string) authorizerFunc {
	return func(a registry.Access) (registry.Decision, error) {
		key := a.Resource.Resource + "/" + a.Resource.Name
		if a.Resource.Subresource != "" {
			key = a.Resource.Resource + "/" + a.Resource.Subresource + "/" + a.Resource.Name
		}
		return registry.Decision{Allowed: a.Resource.Verb == "impersonate" && slices.Contains(allowed, key)}, nil
	}
}

func TestImpersonation(t *testing.T) {
	authorizer := allowImpersonation("users/joe", "groups/devs", "uids/u1", "userextras/acme.io/team/blue")
	handler := chain(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewEncoder(w).Encode(registry.UserFrom(r.Context())); err != nil {
			t.Error(err)
		}
	}, WithAuthentication(userOfHeader, nil, responder), WithImpersonation(authorizer, responder))
	const denied = ` is forbidden: User \"jane\" cannot impersonate resource `
	tests := []struct {
		name    string
		headers []string
		want    authenticationv1.UserInfo
		err     string
	}{
		{"no impersonation", []string{"User: jane"}, authenticationv1.UserInfo{Username: "jane"}, ""},
		{"a user", []string{"User: jane", "Impersonate-User: joe"},
			authenticationv1.UserInfo{Username: "joe", Groups: []string{"system:authenticated"}}, ""},
		{"all parts of a user", []string{"User: jane", "Impersonate-User: joe", "Impersonate-Group: devs", "Impersonate-Uid: u1", "Impersonate-Extra-Acme.io%2fteam: blue"},
			authenticationv1.UserInfo{Username: "joe", UID: "u1", Groups: []string{"devs", "system:authenticated"},
				Extra: map[string]authenticationv1.ExtraValue{"acme.io/team": {"blue"}}}, ""},
		{"a service account has its groups", []string{"Impersonate-User: system:serviceaccount:demo:bot"},
			authenticationv1.UserInfo{Username: "system:serviceaccount:demo:bot",
				Groups: []string{"system:serviceaccounts", "system:serviceaccounts:demo", "system:authenticated"}}, ""},
		{"the anonymous user is unauthenticated", []string{"Impersonate-User: system:anonymous"},
			authenticationv1.UserInfo{Username: "system:anonymous", Groups: []string{"system:unauthenticated"}}, ""},
		{"a forbidden user", []string{"User: jane", "Impersonate-User: ann"}, authenticationv1.UserInfo{},
			`users \"ann\"` + denied + `\"users\" in API group \"\" at the cluster scope`},
		{"a forbidden group", []string{"User: jane", "Impersonate-User: joe", "Impersonate-Group: system:masters"}, authenticationv1.UserInfo{},
			`groups \"system:masters\"` + denied + `\"groups\" in API group \"\" at the cluster scope`},
		{"a forbidden uid", []string{"User: jane", "Impersonate-User: joe", "Impersonate-Uid: u2"}, authenticationv1.UserInfo{},
			`uids.authentication.k8s.io \"u2\"` + denied + `\"uids\" in API group \"authentication.k8s.io\" at the cluster scope`},
		{"a forbidden extra value", []string{"User: jane", "Impersonate-User: joe", "Impersonate-Extra-Acme.io%2fteam: red"}, authenticationv1.UserInfo{},
			`userextras.authentication.k8s.io \"red\"` + denied + `\"userextras/acme.io/team\" in API group \"authentication.k8s.io\" at the cluster scope`},
		{"a forbidden service account", []string{"User: jane", "Impersonate-User: system:serviceaccount:demo:bot"}, authenticationv1.UserInfo{},
			`serviceaccounts \"bot\"` + denied + `\"serviceaccounts\" in API group \"\" in the namespace \"demo\"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := serve(handler, newRequest(t, "GET /", test.headers...))
			if test.err != "" {
				if got.Code != http.StatusForbidden || !strings.Contains(got.Body.String(), test.err) {
					t.Errorf("got %d %s", got.Code, got.Body)
				}
				return
			}
			var user authenticationv1.UserInfo
			if err := json.Unmarshal(got.Body.Bytes(), &user); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, user); diff != "" {
				t.Errorf("user (-want +got):\n%s", diff)
			}
		})
	}
	got := serve(handler, newRequest(t, "GET /", "Impersonate-Group: devs"))
	if got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), "without impersonating a user name") {
		t.Errorf("a group without a user: %d %s", got.Code, got.Body)
	}
}
