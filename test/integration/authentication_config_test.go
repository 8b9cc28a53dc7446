package integration_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/auth/oidc/oidctest"
	"github.com/miniapi/miniapi/internal/servertest"
)

// authenticationConfig writes an AuthenticationConfiguration that trusts an issuer.
func authenticationConfig(t *testing.T, issuer *oidctest.Issuer, more string) string {
	t.Helper()
	ca, err := json.Marshal(issuer.CA)
	check(t, err)
	return write(t, t.TempDir(), "authentication.yaml", fmt.Sprintf(`apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: {url: %s, audiences: [miniapi], certificateAuthority: %s}
  claimMappings:
    username: {claim: sub, prefix: 'oidc:'}
    groups: {claim: groups, prefix: ''}
%s`, issuer.URL, ca, more))
}

func TestTokensOfIssuersAreUsers(t *testing.T) {
	issuer := oidctest.NewIssuer(t)
	for name, secure := range map[string]*miniapi.Secure{
		"by the file": {AuthenticationConfig: authenticationConfig(t, issuer, "")},
		"by the flags": {OIDC: miniapi.OIDC{
			IssuerURL: issuer.URL, ClientID: "miniapi", CAFile: write(t, t.TempDir(), "ca.crt", issuer.CA),
			UsernamePrefix: "oidc:", GroupsClaim: "groups", SigningAlgs: []string{"ES256"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			server := secureServer(t, func(c *miniapi.Config) { c.Secure = secure })
			config := rest.AnonymousClientConfig(server.RESTConfig())
			config.BearerToken = issuer.Token(t, map[string]any{"groups": []string{"dev"}, "jti": "1"})
			user := whoAmI(t, servertest.Client(t, config))
			want := authenticationv1.UserInfo{
				Username: "oidc:ann", Groups: []string{"dev", "system:authenticated"},
				Extra: map[string]authenticationv1.ExtraValue{"authentication.kubernetes.io/credential-id": {"JTI=1"}},
			}
			if diff := cmp.Diff(want, user); diff != "" {
				t.Error(diff)
			}
			admin := config.BearerToken
			for name, token := range map[string]string{
				"expired":              issuer.Token(t, map[string]any{"exp": 1}),
				"of another audience":  issuer.Token(t, map[string]any{"aud": "else"}),
				"of an unknown issuer": issuer.Token(t, map[string]any{"iss": "https://example.com"}),
				"without a signature":  admin[:strings.LastIndex(admin, ".")+1],
			} {
				if status := statusFor(t, server, http.Header{"Authorization": {"Bearer " + token}}); status != http.StatusUnauthorized {
					t.Errorf("a token %s: %d", name, status)
				}
			}
			const metric = "apiserver_authentication_jwt_authenticator_latency_seconds_count"
			hash := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(issuer.URL)))
			expectMetrics(t, server, metric+`\{jwt_issuer_hash="`+hash+`",result="success"\} 1`,
				metric+`\{jwt_issuer_hash="`+hash+`",result="failure"\} 3`)
		})
	}
}

func TestReviewsOfTokensOfIssuers(t *testing.T) {
	issuer := oidctest.NewIssuer(t)
	server := secureServer(t, func(c *miniapi.Config) { c.Secure.AuthenticationConfig = authenticationConfig(t, issuer, "") })
	client := servertest.Client(t, server.RESTConfig())
	const own = "https://kubernetes.default.svc"
	for name, tc := range map[string]struct {
		token     string
		audiences []string
		want      authenticationv1.TokenReviewStatus
	}{
		"valid": {issuer.Token(t, nil), nil, authenticationv1.TokenReviewStatus{
			Authenticated: true, Audiences: []string{own},
			User: authenticationv1.UserInfo{Username: "oidc:ann", Groups: []string{"system:authenticated"}},
		}},
		"for an audience of other servers": {issuer.Token(t, nil), []string{"vault"}, authenticationv1.TokenReviewStatus{
			Error: "invalid bearer token",
		}},
		"of another audience": {issuer.Token(t, map[string]any{"aud": "else"}), nil, authenticationv1.TokenReviewStatus{
			Error: `[invalid bearer token, oidc: verify token: oidc: expected audience "miniapi" got ["else"]]`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: tc.token, Audiences: tc.audiences}}
			review, err := client.AuthenticationV1().TokenReviews().Create(t.Context(), review, metav1.CreateOptions{})
			check(t, err)
			if diff := cmp.Diff(tc.want, review.Status); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConditionsOfAnonymousRequests(t *testing.T) {
	for name, tc := range map[string]struct {
		anonymous string
		want      map[string]int
	}{
		"not configured":      {"", map[string]int{"/livez": 200, "/readyz": 200, "/api/v1/pods": 403}},
		"disabled":            {"anonymous: {enabled: false}", map[string]int{"/livez": 401, "/readyz": 401, "/api/v1/pods": 401}},
		"enabled":             {"anonymous: {enabled: true}", map[string]int{"/livez": 200, "/readyz": 200, "/api/v1/pods": 403}},
		"enabled for a path":  {"anonymous: {enabled: true, conditions: [{path: /livez}]}", map[string]int{"/livez": 200, "/readyz": 401, "/livez/ping": 401, "/api/v1/pods": 401}},
		"enabled for the API": {"anonymous: {enabled: true, conditions: [{path: /api/v1/pods}]}", map[string]int{"/livez": 401, "/api/v1/pods": 403}},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, t.TempDir(), "authentication.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"+tc.anonymous+"\n")
			server := secureServer(t, func(c *miniapi.Config) { c.Secure.AuthenticationConfig = path })
			client := servertest.Client(t, rest.AnonymousClientConfig(server.RESTConfig()))
			for path, want := range tc.want {
				var status int
				client.RESTClient().Get().AbsPath(path).Do(t.Context()).StatusCode(&status)
				if status != want {
					t.Errorf("%s: %d, want %d", path, status, want)
				}
			}
		})
	}
	file := write(t, t.TempDir(), "authentication.yaml",
		"apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: {enabled: true}\n")
	for field, secure := range map[string]miniapi.Secure{"RejectAnonymous": {RejectAnonymous: true}, "AcceptAnonymous": {AcceptAnonymous: true}} {
		secure.AuthenticationConfig = file
		invalid := miniapi.Config{Secure: &secure}
		if err := invalid.Validate(); err == nil || !strings.HasPrefix(err.Error(), "anonymous: Forbidden: --anonymous-auth flag cannot be set") {
			t.Errorf("%s and a file: %v", field, err)
		}
	}
}
