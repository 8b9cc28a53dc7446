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
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/registry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func request(headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/api", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func TestBearer(t *testing.T) {
	users := &Users{}
	users.Add("secret", authenticationv1.UserInfo{Username: "jane", Groups: []string{"devs"}})
	authenticate := OrAnonymous(Chain(Bearer(AnyOf(users.Identify))))
	anonymous := &authenticationv1.UserInfo{Username: "system:anonymous", Groups: []string{"system:unauthenticated"}}
	jane := &authenticationv1.UserInfo{Username: "jane", Groups: []string{"devs", "system:authenticated"}}
	cases := map[string]struct {
		header string
		want   *authenticationv1.UserInfo
		err    string
	}{
		"no header":                  {"", anonymous, ""},
		"a token":                    {"Bearer secret", jane, ""},
		"the scheme has no case":     {"bEARER secret", jane, ""},
		"another token":              {"Bearer wrong", nil, "invalid bearer token"},
		"an empty token is none":     {"Bearer ", anonymous, ""},
		"another scheme is not ours": {"Basic c2VjcmV0", anonymous, ""},
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

func TestChainTakesTheFirstWhoKnows(t *testing.T) {
	knows := func(name string) Authenticator {
		return func(*http.Request) (*authenticationv1.UserInfo, bool, error) {
			return &authenticationv1.UserInfo{Username: name}, true, nil
		}
	}
	nobody := func(*http.Request) (*authenticationv1.UserInfo, bool, error) { return nil, false, nil }
	fails := func(*http.Request) (*authenticationv1.UserInfo, bool, error) { return nil, false, errors.New("broken") }
	user, ok, err := Chain(nobody, fails, knows("jane"), knows("joe"))(request())
	if !ok || err != nil || user.Username != "jane" {
		t.Errorf("got %v, %v, %v", user, ok, err)
	}
	if _, ok, err := Chain(nobody, fails)(request()); ok || err == nil || err.Error() != "broken" {
		t.Errorf("nobody knows: %v, %v", ok, err)
	}
	if _, ok, err := Chain(nobody)(request()); ok || err != nil {
		t.Errorf("nothing to know: %v, %v", ok, err)
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
	users := &Users{}
	if err := users.AddFile(write("t1,jane,u1,\"devs,ops\"\nt2,joe,u2\n")); err != nil {
		t.Fatal(err)
	}
	identity, err := users.Identify(t.Context(), "t1", []string{"api"})
	want := &registry.TokenIdentity{
		User:      &authenticationv1.UserInfo{Username: "jane", UID: "u1", Groups: []string{"devs", "ops"}},
		Audiences: []string{"api"},
	}
	if diff := cmp.Diff(want, identity); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if identity, _ := users.Identify(t.Context(), "t2", nil); identity == nil || identity.User.Username != "joe" {
		t.Errorf("without groups: %v", identity)
	}
	if identity, _ := users.Identify(t.Context(), "", nil); identity != nil {
		t.Errorf("no token is that of %v", identity.User)
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
		t.Errorf("no file: %v", err)
	}
}

func TestCertificates(t *testing.T) {
	ours, err := certs.NewAuthority("ours")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := certs.NewAuthority("theirs")
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	ours.AddTo(pool)
	authenticate := OrAnonymous(Chain(Certificates(pool)))
	presented := func(pair certs.Pair, err error) *http.Request {
		if err != nil {
			t.Fatal(err)
		}
		chain, err := pair.TLS()
		if err != nil {
			t.Fatal(err)
		}
		r := request()
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
	user, ok, err := authenticate(presented(ours.IssueClient("jane", "dev", "ops")))
	if !ok || err != nil || user.Username != "jane" || !cmp.Equal(user.Groups, []string{"dev", "ops", "system:authenticated"}) {
		t.Errorf("ours: %v, %v", user, err)
	}
	if id := user.Extra["authentication.kubernetes.io/credential-id"]; len(id) != 1 || !strings.HasPrefix(id[0], "X509SHA256=") || len(id[0]) != len("X509SHA256=")+64 {
		t.Errorf("credential id %v", id)
	}
	if user, ok, err := authenticate(presented(theirs.IssueClient("jane"))); ok || err == nil {
		t.Errorf("of another CA: %v, %v", user, err)
	}
	if user, ok, err := authenticate(presented(ours.IssueServing("jane"))); ok || err == nil {
		t.Errorf("a serving certificate: %v, %v", user, err)
	}
	if user, ok, err := authenticate(presented(ours.IssueClient(""))); !ok || err != nil || user.Username != "system:anonymous" {
		t.Errorf("without a name: %v, %v", user, err)
	}
}

func TestAnyOfPutsErrorsTogether(t *testing.T) {
	expired := func(context.Context, string, []string) (*registry.TokenIdentity, error) {
		return nil, errors.New("service account token has expired")
	}
	_, err := AnyOf((&Users{}).Identify, expired)(t.Context(), "x", nil)
	if err == nil || err.Error() != "[invalid bearer token, service account token has expired]" {
		t.Errorf("got %v", err)
	}
}
