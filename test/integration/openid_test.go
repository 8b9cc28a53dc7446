package integration_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

const openIDConfiguration = "/.well-known/openid-configuration"

// A service account, or a client with its token, finds the key that verifies the token.
func TestOpenIDDiscovery(t *testing.T) {
	server := secureServer(t, nil)
	admin := servertest.Client(t, server.RESTConfig()).CoreV1().ServiceAccounts("default")
	_, err := admin.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "bot"}}, metav1.CreateOptions{})
	check(t, err)
	token, err := admin.CreateToken(t.Context(), "bot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	check(t, err)
	config := rest.AnonymousClientConfig(server.RESTConfig())
	config.BearerToken = token.Status.Token

	var configuration struct {
		Issuer, KeysURL string
		Algorithms      []string
	}
	fields := map[string]any{"issuer": &configuration.Issuer, "jwks_uri": &configuration.KeysURL, "id_token_signing_alg_values_supported": &configuration.Algorithms}
	document(t, config, server.URL()+openIDConfiguration, "application/json", fields)
	if configuration.Issuer != "https://kubernetes.default.svc" || configuration.KeysURL != server.URL()+"/openid/v1/jwks" {
		t.Errorf("configuration %v", configuration)
	}
	var keys []map[string]string
	document(t, config, configuration.KeysURL, "application/jwk-set+json", map[string]any{"keys": &keys})
	unverified, _, err := jwt.NewParser().ParseUnverified(token.Status.Token, jwt.MapClaims{})
	check(t, err)
	if len(keys) != 1 || keys[0]["kid"] != unverified.Header["kid"] || keys[0]["alg"] != unverified.Header["alg"] || configuration.Algorithms[0] != keys[0]["alg"] {
		t.Errorf("keys %v for a token with %v", keys, unverified.Header)
	}
}

// document gets a JSON document and decodes the given fields of it.
func document(t *testing.T, config *rest.Config, url, contentType string, fields map[string]any) {
	t.Helper()
	status, header, body := get(t, config, url)
	if status != http.StatusOK || header.Get("Content-Type") != contentType || header.Get("Cache-Control") != "public, max-age=3600" {
		t.Fatalf("%s: %d %v: %s", url, status, header, body)
	}
	var found map[string]json.RawMessage
	check(t, json.Unmarshal(body, &found))
	for name, value := range fields {
		check(t, json.Unmarshal(found[name], value))
	}
}

func get(t *testing.T, config *rest.Config, url string) (status int, header http.Header, body []byte) {
	t.Helper()
	res, err := servertest.HTTPClient(t, config).Get(url)
	check(t, err)
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	check(t, err)
	return res.StatusCode, res.Header, body
}

func TestOpenIDDiscoveryAccess(t *testing.T) {
	secure := secureServer(t, nil)
	jane, err := secure.AddUser("jane")
	check(t, err)
	named := secureServer(t, func(c *miniapi.Config) { c.Secure.ServiceAccountIssuers = []string{"api"} })
	plain := servertest.Start(t, miniapi.Config{})
	for name, tc := range map[string]struct {
		server *miniapi.Server
		config *rest.Config
		want   int
	}{
		"the administrator":                  {secure, secure.RESTConfig(), 200},
		"a user without a role":              {secure, jane, 403},
		"plain HTTP":                         {plain, plain.RESTConfig(), 200},
		"an issuer that is not an https URL": {named, named.RESTConfig(), 404},
		"an anonymous user":                  {secure, rest.AnonymousClientConfig(secure.RESTConfig()), 403},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{openIDConfiguration, openIDConfiguration + "/", "/openid/v1/jwks", "/openid/v1/jwks/"} {
				if status, _, body := get(t, tc.config, tc.server.URL()+path); status != tc.want {
					t.Errorf("%s: %d, want %d: %s", path, status, tc.want, body)
				}
			}
			_, _, index := get(t, tc.config, tc.server.URL()+"/")
			if listed := strings.Count(string(index), openIDConfiguration) + strings.Count(string(index), "/openid/v1/jwks"); listed == 2 != (tc.want == 200) {
				t.Errorf("listed %d times", listed)
			}
		})
	}
}
