package oidc_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/auth/oidc"
	"github.com/miniapi/miniapi/auth/oidc/oidctest"
)

// issuerConfig returns an AuthenticationConfiguration that trusts issuers, with more fields of the
// last one.
func issuerConfig(more string, issuers ...*oidctest.Issuer) string {
	var b strings.Builder
	b.WriteString("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n")
	for _, issuer := range issuers {
		ca, _ := json.Marshal(issuer.CA)
		fmt.Fprintf(&b, "- issuer: {url: %s, audiences: [miniapi], certificateAuthority: %s}\n", issuer.URL, ca)
		if more == "" || issuer != issuers[len(issuers)-1] {
			b.WriteString("  claimMappings: {username: {claim: sub, prefix: 'oidc:'}}\n")
		}
	}
	return b.String() + more
}

func writeConfig(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "authentication.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func newAuthenticator(t *testing.T, config oidc.Config) *oidc.Authenticator {
	t.Helper()
	config.Logger = slog.New(slog.DiscardHandler)
	if err := config.Validate(); err != nil {
		t.Fatal(err)
	}
	a, err := oidc.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// identify returns the user name of a token, or the error.
func identify(t *testing.T, a *oidc.Authenticator, token string) string {
	t.Helper()
	user, err := a.Identify(t.Context(), token)
	switch {
	case err != nil:
		return "error: " + err.Error()
	case user == nil:
		return "unknown"
	}
	return user.Username
}

func TestTokens(t *testing.T) {
	issuer, other := oidctest.NewIssuer(t), oidctest.NewIssuer(t)
	const rules = `
  claimMappings:
    username: {expression: 'claims.sub + "@" + claims.?tenant.orValue("none")'}
    groups: {claim: groups, prefix: 'team:'}
    uid: {expression: 'claims.?id.orValue("")'}
    extra: [{key: example.com/tenant, valueExpression: 'claims.?tenant.orValue("none")'}]
  claimValidationRules:
  - {claim: env, requiredValue: test}
  - {expression: 'claims.exp - claims.iat <= 7200', message: valid for too long}
  userValidationRules:
  - {expression: '!user.username.startsWith("system:")', message: reserved name}
`
	a := newAuthenticator(t, oidc.Config{File: writeConfig(t, issuerConfig(rules, other, issuer))})
	now := time.Now().Unix()
	for name, tc := range map[string]struct {
		claims map[string]any
		want   string
	}{
		"valid":                     {nil, "ann@none"},
		"a claim in an expression":  {map[string]any{"tenant": "blue"}, "ann@blue"},
		"one of several audiences":  {map[string]any{"aud": []string{"else", "miniapi"}}, "ann@none"},
		"expired":                   {map[string]any{"exp": now - 60}, "error: oidc: verify token: oidc: token is expired"},
		"another audience":          {map[string]any{"aud": "else"}, `error: oidc: verify token: oidc: expected audience "miniapi" got ["else"]`},
		"another issuer":            {map[string]any{"iss": "https://example.com"}, "unknown"},
		"no required claim":         {map[string]any{"env": nil}, "error: oidc: required claim env not present in ID token"},
		"another value of a claim":  {map[string]any{"env": "prod"}, "error: oidc: required claim env value does not match. Got = prod, want = test"},
		"a claim validation rule":   {map[string]any{"exp": now + 9000}, "error: oidc: error evaluating claim validation expression: validation expression 'claims.exp - claims.iat <= 7200' failed: valid for too long"},
		"a user validation rule":    {map[string]any{"sub": "system:admin"}, `error: oidc: error evaluating user info validation rule: validation expression '!user.username.startsWith("system:")' failed: reserved name`},
		"an expression without sub": {map[string]any{"sub": nil}, "error: oidc: error evaluating username claim expression: expression 'claims.sub + \"@\" + claims.?tenant.orValue(\"none\")' resulted in error: no such key: sub"},
	} {
		t.Run(name, func(t *testing.T) {
			claims := map[string]any{"env": "test"}
			for key, value := range tc.claims {
				claims[key] = value
			}
			if got := identify(t, a, issuer.Token(t, claims)); !strings.HasPrefix(got, tc.want) {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
	user, err := a.Identify(t.Context(), issuer.Token(t, map[string]any{
		"env": "test", "tenant": "blue", "groups": []string{"dev", "ops"}, "id": "7", "jti": "token-1",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := &authenticationv1.UserInfo{Username: "ann@blue", UID: "7", Groups: []string{"team:dev", "team:ops"}, Extra: map[string]authenticationv1.ExtraValue{
		"example.com/tenant": {"blue"}, "authentication.kubernetes.io/credential-id": {"JTI=token-1"},
	}}
	if diff := cmp.Diff(want, user); diff != "" {
		t.Error(diff)
	}
	if got := identify(t, a, other.Token(t, nil)); got != "oidc:ann" {
		t.Errorf("token of the other issuer: %s", got)
	}
	forged := other.Token(t, map[string]any{"iss": issuer.URL, "env": "test"})
	if got := identify(t, a, forged); !strings.Contains(got, "failed to verify id token signature") {
		t.Errorf("a token with the key of another issuer: %s", got)
	}
}

func TestKeysAreFetchedOnDemand(t *testing.T) {
	issuer := oidctest.NewIssuer(t)
	a := newAuthenticator(t, oidc.Config{File: writeConfig(t, issuerConfig("", issuer))})
	if requests := issuer.Requests(); len(requests) > 0 {
		t.Errorf("requests before the first token: %v", requests)
	}
	if got := identify(t, a, "other.tokens.pass"); got != "unknown" || len(issuer.Requests()) > 0 {
		t.Errorf("a token of no issuer: %s, requests %v", got, issuer.Requests())
	}
	old := issuer.Token(t, nil)
	for range 3 {
		if got := identify(t, a, old); got != "oidc:ann" {
			t.Fatal(got)
		}
	}
	want := []string{"/.well-known/openid-configuration", "/keys"}
	if diff := cmp.Diff(want, issuer.Requests()); diff != "" {
		t.Errorf("requests after three tokens:\n%s", diff)
	}
	issuer.Rotate()
	// go-oidc answers with fetched keys a moment before it replaces the cached keys by them. Until
	// then it fetches no others.
	await(t, func() bool { return identify(t, a, issuer.Token(t, nil)) == "oidc:ann" })
	await(t, func() bool {
		return strings.Contains(identify(t, a, old), "failed to verify id token signature")
	})
}

func TestDiscoveryIsRepeatedAfterAFailure(t *testing.T) {
	issuer := oidctest.NewIssuer(t)
	issuer.Fail()
	a := newAuthenticator(t, oidc.Config{File: writeConfig(t, issuerConfig("", issuer))})
	token := issuer.Token(t, nil)
	if got := identify(t, a, token); !strings.HasSuffix(got, "/.well-known/openid-configuration: 503 Service Unavailable") {
		t.Errorf("the issuer is down: %s", got)
	}
	issuer.Recover()
	await(t, func() bool { return identify(t, a, token) == "oidc:ann" })
	issuer.Fail() // known keys do not need the issuer
	if got := identify(t, a, token); got != "oidc:ann" {
		t.Errorf("the issuer is down again: %s", got)
	}
}

func TestIssuersAreLimited(t *testing.T) {
	target := oidctest.NewIssuer(t)
	for name, tc := range map[string]struct {
		change func(*oidctest.Issuer)
		want   string
	}{
		"redirects":         {func(i *oidctest.Issuer) { i.Redirect(target.URL) }, "attempted to redirect this request, which is not permitted"},
		"keys beyond 8 MiB": {func(i *oidctest.Issuer) { i.Pad(9 << 20) }, "the answer is longer than 8388608 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			issuer := oidctest.NewIssuer(t)
			tc.change(issuer)
			a := newAuthenticator(t, oidc.Config{File: writeConfig(t, issuerConfig("", issuer))})
			if got := identify(t, a, issuer.Token(t, nil)); !strings.Contains(got, tc.want) {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
	if requests := target.Requests(); len(requests) > 0 {
		t.Errorf("redirects led to requests: %v", requests)
	}
}

// A token whose issuer does not answer is rejected after the timeout.
func TestRequestsToIssuersHaveATimeout(t *testing.T) {
	for _, path := range []string{"/.well-known/openid-configuration", "/keys"} {
		t.Run(path, func(t *testing.T) {
			issuer := oidctest.NewIssuer(t)
			issuer.Ignore(path)
			a := newAuthenticator(t, oidc.Config{File: writeConfig(t, issuerConfig("", issuer)), Timeout: 50 * time.Millisecond})
			await(t, func() bool { // the requests before it may exceed the timeout, too
				if got := identify(t, a, issuer.Token(t, nil)); !strings.Contains(got, "exceeded") {
					t.Fatalf("got %s", got)
				}
				return slices.Contains(issuer.Requests(), path)
			})
		})
	}
}

func TestDiscoveryURL(t *testing.T) {
	issuer := oidctest.NewIssuer(t)
	config := strings.Replace(issuerConfig("", issuer), "{url:", "{discoveryURL: "+issuer.URL+"/elsewhere, url:", 1)
	a := newAuthenticator(t, oidc.Config{File: writeConfig(t, config)})
	if got := identify(t, a, issuer.Token(t, nil)); got != "oidc:ann" {
		t.Error(got)
	}
	if requests := issuer.Requests(); !slices.Equal(requests, []string{"/elsewhere", "/keys"}) {
		t.Errorf("requests %v", requests)
	}
}

func TestReload(t *testing.T) {
	first, second := oidctest.NewIssuer(t), oidctest.NewIssuer(t)
	path := writeConfig(t, issuerConfig("", first))
	log := &lockedBuffer{}
	a, err := oidc.New(oidc.Config{File: path, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	write := func(content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	is := func(issuer *oidctest.Issuer, want string) func() bool {
		return func() bool { return identify(t, a, issuer.Token(t, nil)) == want }
	}
	await(t, is(first, "oidc:ann"))
	write(issuerConfig("", second))
	await(t, is(second, "oidc:ann"))
	await(t, is(first, "unknown"))
	for want, invalid := range map[string]string{
		"unknown field": issuerConfig("", first) + "jwts: []\n",
		"anonymous: Forbidden: changed from initial configuration file": issuerConfig("", first) + "anonymous: {enabled: false}\n",
	} {
		write(invalid)
		await(t, func() bool { return is(second, "oidc:ann")() && strings.Contains(log.String(), want) })
		if !is(first, "unknown")() {
			t.Errorf("the invalid configuration has an effect:\n%s", invalid)
		}
	}
	write(issuerConfig("", first, second))
	await(t, is(first, "oidc:ann"))
}

func TestFlags(t *testing.T) {
	issuer := oidctest.NewIssuer(t)
	flags := oidc.Flags{IssuerURL: issuer.URL, ClientID: "miniapi", CAFile: writeConfig(t, issuer.CA), SigningAlgs: []string{"ES256"}}
	for name, tc := range map[string]struct {
		change func(*oidc.Flags)
		want   string
	}{
		"defaults":              {func(*oidc.Flags) {}, issuer.URL + "#ann"},
		"a prefix":              {func(f *oidc.Flags) { f.UsernamePrefix = "oidc:" }, "oidc:ann"},
		"no prefix":             {func(f *oidc.Flags) { f.UsernamePrefix = "-" }, "ann"},
		"an address":            {func(f *oidc.Flags) { f.UsernameClaim = "email" }, "ann@example.com"},
		"a required claim":      {func(f *oidc.Flags) { f.RequiredClaims = map[string]string{"email": "ann@example.com"} }, issuer.URL + "#ann"},
		"a missing claim":       {func(f *oidc.Flags) { f.RequiredClaims = map[string]string{"a": "b"} }, "error: oidc: required claim a not present in ID token"},
		"the default algorithm": {func(f *oidc.Flags) { f.SigningAlgs = nil }, `error: oidc: verify token: oidc: id token signed with unsupported algorithm, expected ["RS256"] got "ES256"`},
	} {
		t.Run(name, func(t *testing.T) {
			config := oidc.Config{Flags: flags}
			tc.change(&config.Flags)
			a := newAuthenticator(t, config)
			if got := identify(t, a, issuer.Token(t, map[string]any{"email": "ann@example.com", "email_verified": true})); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestInvalidConfigurations(t *testing.T) {
	issuer := oidctest.NewIssuer(t)
	header := "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"
	file := func(content string) oidc.Config { return oidc.Config{File: writeConfig(t, content)} }
	for name, tc := range map[string]struct {
		config oidc.Config
		want   string
	}{
		"no file":            {oidc.Config{File: "/nowhere/a"}, "--authentication-config: open /nowhere/a: no such file or directory"},
		"an empty file":      {file(""), "empty config data"},
		"an unknown field":   {file(header + "jwts: []\n"), `unknown field "jwts"`},
		"another kind":       {file("apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n"), "the file contains a EncryptionConfiguration"},
		"no username":        {file(issuerConfig("  claimMappings: {}\n", issuer)), "jwt[0].claimMappings.username: Required value: claim or expression is required"},
		"an expression":      {file(issuerConfig("  claimMappings: {username: {expression: 'claims.'}}\n", issuer)), "jwt[0].claimMappings.username.expression: Invalid value"},
		"the same issuer":    {file(issuerConfig("", issuer, issuer)), "jwt[1].issuer.url: Duplicate value"},
		"plain HTTP":         {file(strings.Replace(issuerConfig("", issuer), "https://", "http://", 1)), "URL scheme must be https"},
		"an egress selector": {file(strings.Replace(issuerConfig("", issuer), "{url:", "{egressSelectorType: cluster, url:", 1)), "jwt[0].issuer.egressSelectorType: Forbidden: egress selectors are not supported: remove the field"},
		"the own issuer":     {oidc.Config{File: writeConfig(t, issuerConfig("", issuer)), DisallowedIssuers: []string{issuer.URL}}, "URL must not overlap with disallowed issuers"},
		"conditions":         {file(header + "anonymous: {enabled: false, conditions: [{path: /livez}]}\n"), "enabled should be set to true when conditions are defined"},
		"flags and a file":   {oidc.Config{File: "a", Flags: oidc.Flags{ClientID: "b"}}, "authentication-config file and oidc-* flags are mutually exclusive"},
		"an incomplete flag": {oidc.Config{Flags: oidc.Flags{ClientID: "b"}}, "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set"},
		"an algorithm":       {oidc.Config{Flags: oidc.Flags{IssuerURL: "https://a", ClientID: "b", SigningAlgs: []string{"HS256"}}}, `--oidc-signing-algs: unsupported signing alg: "HS256"`},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tc.config.Validate(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}
