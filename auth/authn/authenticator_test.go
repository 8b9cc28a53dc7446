package authn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/registry"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

func request(headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/api", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// api is the audience of the server.
var api = []string{"api"}

func TestBearer(t *testing.T) {
	users := &StaticTokens{}
	users.Add("secret", authenticationv1.UserInfo{Username: "jane", Groups: []string{"devs"}})
	authenticate := Chain(Bearer(AnyOf(forAudiences(api, users.Identify)), api...))
	jane := &authenticationv1.UserInfo{Username: "jane", Groups: []string{"devs", "system:authenticated"}}
	cases := map[string]struct {
		header string
		want   *authenticationv1.UserInfo
		err    string
	}{
		"no header":                      {"", nil, ""},
		"a known token":                  {"Bearer secret", jane, ""},
		"the scheme is case-insensitive": {"bEARER secret", jane, ""},
		"an unknown token":               {"Bearer wrong", nil, "invalid bearer token"},
		"an empty token":                 {"Bearer ", nil, ""},
		"another scheme":                 {"Basic c2VjcmV0", nil, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			user, ok, err := authenticate(request("Authorization", c.header))
			if diff := cmp.Diff(c.want, user); diff != "" || ok != (c.want != nil) {
				t.Errorf("%v (-want +got):\n%s", ok, diff)
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || err.Error() != c.err) {
				t.Errorf("error %v, want %s", err, c.err)
			}
		})
	}
}

func TestSpacesBeforeABearerTokenAreAWarning(t *testing.T) {
	users := &StaticTokens{}
	users.Add("secret", authenticationv1.UserInfo{Username: "jane"})
	r := request("Authorization", "Bearer  secret")
	ctx, warnings := registry.WithWarnings(r.Context())
	if _, ok, err := Bearer(forAudiences(api, users.Identify), api...)(r.WithContext(ctx)); ok || err != nil {
		t.Errorf("authenticated %t, error %v", ok, err)
	}
	want := []string{"the provided Authorization header contains extra space before the bearer token, and is ignored"}
	if diff := cmp.Diff(want, warnings.List()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestChainReturnsTheFirstUser(t *testing.T) {
	succeeds := func(name string) Authenticator {
		return func(*http.Request) (*authenticationv1.UserInfo, bool, error) {
			return &authenticationv1.UserInfo{Username: name}, true, nil
		}
	}
	skips := func(*http.Request) (*authenticationv1.UserInfo, bool, error) { return nil, false, nil }
	fails := func(*http.Request) (*authenticationv1.UserInfo, bool, error) { return nil, false, errors.New("broken") }
	user, ok, err := Chain(skips, fails, succeeds("jane"), succeeds("joe"))(request())
	if !ok || err != nil || user.Username != "jane" {
		t.Errorf("got %v, %v, %v", user, ok, err)
	}
	if _, ok, err := Chain(skips, fails)(request()); ok || err == nil || err.Error() != "broken" {
		t.Errorf("only errors: %v, %v", ok, err)
	}
	if _, ok, err := Chain(skips)(request()); ok || err != nil {
		t.Errorf("no credentials: %v, %v", ok, err)
	}
}

func TestTokenFile(t *testing.T) {
	write := func(content string) string {
		path := filepath.Join(t.TempDir(), "tokens.csv")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	users := &StaticTokens{}
	if err := users.AddFile(write("t1,jane,u1,\"devs,ops\"\nt2,joe,u2\n")); err != nil {
		t.Fatal(err)
	}
	user, err := users.Identify(t.Context(), "t1")
	want := &authenticationv1.UserInfo{Username: "jane", UID: "u1", Groups: []string{"devs", "ops"}}
	if diff := cmp.Diff(want, user); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if user, _ := users.Identify(t.Context(), "t2"); user == nil || user.Username != "joe" {
		t.Errorf("without groups: %v", user)
	}
	if user, _ := users.Identify(t.Context(), ""); user != nil {
		t.Errorf("an empty token identifies %v", user)
	}
	for content, want := range map[string]string{
		"t1,jane\n":         "must have at least 3 columns (token, user name, user uid), found 2",
		"t,a,b\n,jane,u1\n": "line 2 has an empty token",
		"t,\"jane,u1\n":     "extraneous or missing",
	} {
		if err := users.AddFile(write(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", content, err, want)
		}
	}
	if err := users.AddFile("/does/not/exist"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestCertificates(t *testing.T) {
	trusted, untrusted := newAuthority(t), newAuthority(t)
	authenticate := Chain(trusted.certificates())
	user, ok, err := authenticate(requestOver(t, trusted.client("jane", "dev", "ops")))
	if !ok || err != nil || user.Username != "jane" || !cmp.Equal(user.Groups, []string{"dev", "ops", "system:authenticated"}) {
		t.Errorf("trusted CA: %v, %v", user, err)
	}
	if id := user.Extra["authentication.kubernetes.io/credential-id"]; len(id) != 1 || !strings.HasPrefix(id[0], "X509SHA256=") || len(id[0]) != len("X509SHA256=")+64 {
		t.Errorf("credential id %v", id)
	}
	if user, ok, err := authenticate(requestOver(t, untrusted.client("jane"))); ok || err == nil {
		t.Errorf("untrusted CA: %v, %v", user, err)
	}
	serving, err := trusted.IssueServing("jane")
	if err != nil {
		t.Fatal(err)
	}
	if user, ok, err := authenticate(requestOver(t, serving)); ok || err == nil {
		t.Errorf("serving certificate: %v, %v", user, err)
	}
	if user, ok, err := authenticate(requestOver(t, trusted.client(""))); ok || err != nil {
		t.Errorf("no common name: %v, %v", user, err)
	}
}

// authority is a certificate authority of a test.
type authority struct {
	*testing.T
	*certs.Authority
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	created, err := certs.NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	return authority{t, created}
}

// client returns a certificate of a user.
func (a authority) client(user string, groups ...string) certs.Pair {
	a.Helper()
	pair, err := a.IssueClient(user, groups...)
	if err != nil {
		a.Fatal(err)
	}
	return pair
}

// certificates returns the authenticator that trusts this authority.
func (a authority) certificates() Authenticator {
	pool := x509.NewCertPool()
	a.AddTo(pool)
	return Certificates(func() *x509.CertPool { return pool })
}

// requestOver returns a request over TLS with a client certificate.
func requestOver(t *testing.T, pair certs.Pair, headers ...string) *http.Request {
	t.Helper()
	chain, err := pair.TLS()
	if err != nil {
		t.Fatal(err)
	}
	r := request(headers...)
	r.TLS = &tls.ConnectionState{}
	for _, der := range chain.Certificate {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		r.TLS.PeerCertificates = append(r.TLS.PeerCertificates, certificate)
	}
	return r
}

func TestAnyOfReturnsAllErrors(t *testing.T) {
	expired := func(context.Context, string, []string) (*registry.TokenIdentity, error) {
		return nil, errors.New("service account token has expired")
	}
	_, err := AnyOf(forAudiences(api, (&StaticTokens{}).Identify), expired)(t.Context(), "x", nil)
	if err == nil || err.Error() != "[invalid bearer token, service account token has expired]" {
		t.Errorf("got %v", err)
	}
}

func TestTokensWithoutAudiencesAreForTheServer(t *testing.T) {
	users := &StaticTokens{}
	users.Add("secret", authenticationv1.UserInfo{Username: "jane"})
	identify := forAudiences([]string{"api", "other"}, users.Identify)
	for name, c := range map[string]struct{ audiences, want []string }{
		"an audience of the server":   {[]string{"api", "vault"}, api},
		"no audience of the server":   {[]string{"vault"}, nil},
		"all audiences of the server": {[]string{"api", "other"}, []string{"api", "other"}},
	} {
		identity, err := identify(t.Context(), "secret", c.audiences)
		if err != nil || (identity == nil) != (c.want == nil) {
			t.Errorf("%s: %v, %v", name, identity, err)
		} else if identity != nil && !slices.Equal(identity.Audiences, c.want) {
			t.Errorf("%s: audiences %q, want %q", name, identity.Audiences, c.want)
		}
	}
}
