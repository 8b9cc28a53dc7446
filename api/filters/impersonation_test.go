package filters

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/api/metrics"
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
	}, WithAuthentication(userOfHeader, nil, Unauthorized(responder)), WithImpersonation(authorizer, responder))
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
		{"an invalid name of a service account is a user", []string{"Impersonate-User: system:serviceaccount:demo:Bot"},
			authenticationv1.UserInfo{Username: "system:serviceaccount:demo:Bot", Groups: []string{"system:authenticated"}}, ""},
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
		{"a service account of an invalid namespace", []string{"User: jane", "Impersonate-User: system:serviceaccount:a.b:bot"}, authenticationv1.UserInfo{},
			`users \"system:serviceaccount:a.b:bot\"` + denied + `\"users\" in API group \"\" at the cluster scope`},
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

// permit allows the listed "VERB RESOURCE[/SUBRESOURCE] NAME" and nothing else.
func permit(allowed ...string) authorizerFunc {
	return func(a registry.Access) (registry.Decision, error) {
		var key string
		if r := a.Resource; r != nil {
			key = r.Verb + " " + r.Resource + " " + r.Name
		} else {
			key = a.NonResource.Verb + " " + a.NonResource.Path
		}
		return registry.Decision{Allowed: slices.Contains(allowed, key)}, nil
	}
}

func TestConstrainedImpersonation(t *testing.T) {
	const account, node = "Impersonate-User: system:serviceaccount:demo:bot", "Impersonate-User: system:node:n1"
	fourGroups := []string{"Impersonate-User: joe", "Impersonate-Group: a", "Impersonate-Group: b", "Impersonate-Group: c", "Impersonate-Group: d"}
	const extra = "Impersonate-Extra-Example.com%2fa: "
	fourExtras := []string{"Impersonate-User: joe", extra + "1", extra + "2", extra + "3", extra + "4"}
	for _, tc := range []struct {
		rule    string
		user    authenticationv1.UserInfo
		request string
		headers []string
		allowed []string
		groups  []string
		err     string
	}{
		{"a user for a request", authenticationv1.UserInfo{}, "GET /api/v1/pods", []string{"Impersonate-User: joe", "Impersonate-Group: devs"},
			[]string{"impersonate-on:user-info:list pods ", "impersonate:user-info users joe", "impersonate:user-info groups devs"},
			[]string{"devs", "system:authenticated"}, ""},
		{"a path", authenticationv1.UserInfo{}, "GET /version", []string{"Impersonate-User: joe"},
			[]string{"impersonate-on:user-info:get /version", "impersonate:user-info users joe"}, []string{"system:authenticated"}, ""},
		{"another request", authenticationv1.UserInfo{}, "DELETE /api/v1/nodes/a", []string{"Impersonate-User: joe"},
			[]string{"impersonate-on:user-info:list pods ", "impersonate:user-info users joe"}, nil,
			`nodes "a" is forbidden: User "jane" cannot impersonate-on:user-info:delete resource "nodes" in API group "" at the cluster scope`},
		{"another user", authenticationv1.UserInfo{}, "GET /api/v1/pods", []string{"Impersonate-User: ann"},
			[]string{"impersonate-on:user-info:list pods ", "impersonate:user-info users joe"}, nil,
			`users.authentication.k8s.io "ann" is forbidden: User "jane" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope`},
		{"system:masters", authenticationv1.UserInfo{}, "GET /api/v1/pods", []string{"Impersonate-User: joe", "Impersonate-Group: system:masters"},
			[]string{"impersonate-on:user-info:list pods ", "impersonate:user-info users joe", "impersonate:user-info groups system:masters"}, nil,
			`groups.authentication.k8s.io "system:masters" is forbidden: User "jane" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed`},
		{"four groups by *", authenticationv1.UserInfo{}, "GET /api/v1/pods", fourGroups,
			[]string{"impersonate-on:user-info:list pods ", "impersonate:user-info users joe", "impersonate:user-info groups *"},
			[]string{"a", "b", "c", "d", "system:authenticated"}, ""},
		{"four groups by name", authenticationv1.UserInfo{}, "GET /api/v1/pods", fourGroups,
			[]string{"impersonate-on:user-info:list pods ", "impersonate:user-info users joe", "impersonate:user-info groups a",
				"impersonate:user-info groups b", "impersonate:user-info groups c", "impersonate:user-info groups d"},
			[]string{"a", "b", "c", "d", "system:authenticated"}, ""},
		{"three groups need their names", authenticationv1.UserInfo{}, "GET /api/v1/pods", fourGroups[:4],
			[]string{"impersonate-on:user-info:list pods ", "impersonate:user-info users joe", "impersonate:user-info groups *"}, nil,
			`groups.authentication.k8s.io "a" is forbidden: User "jane" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope`},
		{"* does not include system:masters", authenticationv1.UserInfo{}, "GET /api/v1/pods", append(fourGroups, "Impersonate-Group: system:masters"),
			[]string{"impersonate-on:user-info:list pods ", "impersonate:user-info users joe", "impersonate:user-info groups *"}, nil,
			`groups.authentication.k8s.io "system:masters" is forbidden: User "jane" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed`},
		{"four extra values by *", authenticationv1.UserInfo{}, "GET /api/v1/pods", fourExtras,
			[]string{"impersonate-on:user-info:list pods ", "impersonate:user-info users joe", "impersonate:user-info userextras *"},
			[]string{"system:authenticated"}, ""},
		{"three extra values need their names", authenticationv1.UserInfo{}, "GET /api/v1/pods", fourExtras[:4],
			[]string{"impersonate-on:user-info:list pods ", "impersonate:user-info users joe", "impersonate:user-info userextras *"}, nil,
			`userextras.authentication.k8s.io "1" is forbidden: User "jane" cannot impersonate:user-info resource "userextras/example.com/a" in API group "authentication.k8s.io" at the cluster scope`},
		{"an extra key in upper case", authenticationv1.UserInfo{}, "GET /api/v1/pods", []string{"Impersonate-User: joe", "Impersonate-Extra-Example.com%2f%41: 1"},
			[]string{"impersonate-on:user-info:list pods ", "impersonate:user-info users joe", "impersonate:user-info userextras *"}, nil,
			`userextras.authentication.k8s.io is forbidden: User "jane" cannot impersonate:user-info resource "userextras" in API group "authentication.k8s.io" at the cluster scope: impersonating a non-lowercase key in extra is not allowed: "example.com/A"`},
		{"an empty extra value", authenticationv1.UserInfo{}, "GET /api/v1/pods", []string{"Impersonate-User: joe", "Impersonate-Extra-Example.com%2fa: "},
			[]string{"impersonate-on:user-info:list pods ", "impersonate:user-info users joe", "impersonate:user-info userextras *"}, nil,
			`userextras.authentication.k8s.io is forbidden: User "jane" cannot impersonate:user-info resource "userextras" in API group "authentication.k8s.io" at the cluster scope: impersonating the empty string value in extra is not allowed`},
		{"the verb impersonate allows every request", authenticationv1.UserInfo{}, "GET /api/v1/pods", []string{"Impersonate-User: joe", "Impersonate-Group: system:masters"},
			[]string{"impersonate users joe", "impersonate groups system:masters"}, []string{"system:masters", "system:authenticated"}, ""},
		{"a service account", authenticationv1.UserInfo{}, "GET /api/v1/pods", []string{account},
			[]string{"impersonate-on:serviceaccount:list pods ", "impersonate:serviceaccount serviceaccounts bot"},
			[]string{"system:serviceaccounts", "system:serviceaccounts:demo", "system:authenticated"}, ""},
		{"a service account is no other user", authenticationv1.UserInfo{}, "GET /api/v1/pods", []string{account},
			[]string{"impersonate-on:user-info:list pods ", "impersonate:user-info serviceaccounts bot"}, nil,
			`pods is forbidden: User "jane" cannot impersonate-on:serviceaccount:list resource "pods" in API group "" at the cluster scope`},
		{"any node has its group", authenticationv1.UserInfo{}, "GET /api/v1/pods", []string{node},
			[]string{"impersonate-on:arbitrary-node:list pods ", "impersonate:arbitrary-node nodes n1"}, []string{"system:nodes", "system:authenticated"}, ""},
		{"the node of a service account", authenticationv1.UserInfo{
			Username: "system:serviceaccount:demo:agent", Extra: map[string]authenticationv1.ExtraValue{"authentication.kubernetes.io/node-name": {"n1"}},
		}, "GET /api/v1/pods", []string{node},
			[]string{"impersonate-on:associated-node:list pods ", "impersonate:associated-node nodes *"}, []string{"system:nodes", "system:authenticated"}, ""},
		{"another node than the one of the service account", authenticationv1.UserInfo{
			Username: "system:serviceaccount:demo:agent", Extra: map[string]authenticationv1.ExtraValue{"authentication.kubernetes.io/node-name": {"n2"}},
		}, "GET /api/v1/pods", []string{node},
			[]string{"impersonate-on:associated-node:list pods ", "impersonate:associated-node nodes *"}, nil,
			`pods is forbidden: User "system:serviceaccount:demo:agent" cannot impersonate-on:arbitrary-node:list resource "pods" in API group "" at the cluster scope`},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			if tc.user.Username == "" {
				tc.user.Username = "jane"
			}
			authenticate := func(*http.Request) (*authenticationv1.UserInfo, error) { return &tc.user, nil }
			var got *authenticationv1.UserInfo
			handler := chain(func(_ http.ResponseWriter, r *http.Request) { got = registry.UserFrom(r.Context()) },
				WithAuthentication(authenticate, nil, Unauthorized(responder)), WithConstrainedImpersonation(permit(tc.allowed...), metrics.NewImpersonation(), responder))
			answer := serve(handler, newRequest(t, tc.request, tc.headers...))
			if tc.err != "" {
				var status struct{ Message string }
				if err := json.Unmarshal(answer.Body.Bytes(), &status); err != nil || answer.Code != http.StatusForbidden || status.Message != tc.err {
					t.Errorf("got %d %s, want %s", answer.Code, status.Message, tc.err)
				}
			} else if got == nil || !slices.Equal(got.Groups, tc.groups) {
				t.Errorf("got %+v, %s", got, answer.Body)
			}
		})
	}
}
