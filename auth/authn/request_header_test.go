package authn

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/auth/certs"
)

func TestRequestHeaders(t *testing.T) {
	trusted, untrusted := newAuthority(t), newAuthority(t)
	headers := RequestHeaders{
		AllowedNames:    []string{"gateway"},
		UsernameHeaders: []string{"X-Remote-User"}, UIDHeaders: []string{"X-Remote-Uid"},
		GroupHeaders: []string{"X-Remote-Group"}, ExtraHeaderPrefixes: []string{"X-Remote-Extra-"},
	}
	authenticate := headers.Authenticator(trusted.certificates())
	sent := []string{
		"X-Remote-User", "jane", "X-Remote-Uid", "u1", "X-Remote-Group", "devs",
		"x-remote-extra-Example.com%2fScopes", "read", "X-Other", "kept",
	}
	jane := &authenticationv1.UserInfo{
		Username: "jane", UID: "u1", Groups: []string{"devs"},
		Extra: map[string]authenticationv1.ExtraValue{"example.com/scopes": {"read"}},
	}
	for name, c := range map[string]struct {
		proxy   certs.Pair
		headers []string
		want    *authenticationv1.UserInfo
		invalid bool
	}{
		"an allowed front proxy":       {trusted.client("gateway"), sent, jane, false},
		"another name":                 {trusted.client("jane"), sent, nil, false},
		"a certificate of another CA":  {untrusted.client("gateway"), sent, nil, true},
		"a front proxy without a user": {trusted.client("gateway"), sent[2:], nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := requestOver(t, c.proxy, c.headers...)
			user, ok, err := authenticate(r)
			if diff := cmp.Diff(c.want, user); diff != "" || ok != (c.want != nil) || c.invalid != (err != nil) {
				t.Errorf("%v, %v (-want +got):\n%s", ok, err, diff)
			}
			if len(r.Header) != 1 || r.Header.Get("X-Other") != "kept" {
				t.Errorf("headers of the request afterwards: %v", r.Header)
			}
		})
	}
	if user, ok, err := authenticate(request(sent...)); ok || err != nil {
		t.Errorf("without a certificate: %v, %v", user, err)
	}
}

func TestAllowedNamesDefaultToAny(t *testing.T) {
	authority := newAuthority(t)
	authenticate := RequestHeaders{UsernameHeaders: []string{"X-Remote-User"}}.Authenticator(authority.certificates())
	if user, ok, err := authenticate(requestOver(t, authority.client("any"), "X-Remote-User", "jane")); !ok || err != nil || user.Username != "jane" {
		t.Errorf("%v, %v, %v", user, ok, err)
	}
}
