package authn

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	kinds "github.com/miniapi/miniapi/kinds/core"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

const audience = "https://kubernetes.default.svc"

type accounts struct {
	*registrytest.Env
	*ServiceAccounts
	now    time.Time
	claims registry.TokenClaims // of the account demo/bot
}

func newAccounts(t *testing.T, key crypto.Signer) *accounts {
	t.Helper()
	a := &accounts{Env: registrytest.New(t, nil, kinds.Resources(feature.Default())...), now: time.Now().Truncate(time.Second)}
	var err error
	a.ServiceAccounts, err = NewServiceAccounts(ServiceAccountConfig{
		Issuers:    []string{audience},
		SigningKey: key,
		Store: func(name schema.GroupResource) (*registry.Store, bool) {
			return a.Catalog.Snapshot().Store(name)
		},
		Now: func() time.Time { return a.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	account := a.Create("serviceaccounts", &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "bot"}})
	a.claims = registry.TokenClaims{
		Namespace: "demo",
		Account:   registry.TokenObject{Name: "bot", UID: string(registrytest.Meta(account).GetUID())},
		Audiences: []string{audience, "vault"},
		IssuedAt:  a.now,
		Lifetime:  time.Hour,
	}
	return a
}

func (a *accounts) issue() string {
	a.Helper()
	token, err := a.Issue(a.Context(), a.claims)
	if err != nil {
		a.Fatal(err)
	}
	return token
}

// expectInvalid checks the error of an invalid token.
func (a *accounts) expectInvalid(token, reason string) {
	a.Helper()
	if _, err := a.Identify(a.Context(), token, []string{audience}); err == nil || err.Error() != reason {
		a.Errorf("got  %v\nwant %s", err, reason)
	}
}

func (a *accounts) delete(resource, namespace, name string) {
	a.Helper()
	_, err := a.Store(resource).Delete(a.Context(), registry.DeleteRequest{
		Namespace: namespace, Name: name, Options: &metav1.DeleteOptions{GracePeriodSeconds: new(int64)},
	})
	if err != nil {
		a.Fatal(err)
	}
}

func newRSAKey(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newECKey(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestServiceAccountTokens(t *testing.T) {
	for algorithm, key := range map[string]crypto.Signer{"RS256": newRSAKey(t), "ES256": newECKey(t)} {
		t.Run(algorithm, func(t *testing.T) {
			a := newAccounts(t, key)
			token := a.issue()
			identity, err := a.Identify(t.Context(), token, []string{audience})
			if err != nil {
				t.Fatal(err)
			}
			header, content := decode(t, token)
			id, err := keyID(key.Public())
			if diff := cmp.Diff(map[string]any{"alg": algorithm, "kid": id}, header); err != nil || diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
			jti, _ := content["jti"].(string)
			want := &registry.TokenIdentity{Audiences: []string{audience}, User: &authenticationv1.UserInfo{
				Username: "system:serviceaccount:demo:bot",
				UID:      a.claims.Account.UID,
				Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:demo"},
				Extra:    map[string]authenticationv1.ExtraValue{"authentication.kubernetes.io/credential-id": {"JTI=" + jti}},
			}}
			if diff := cmp.Diff(want, identity); diff != "" {
				t.Errorf("user (-want +got):\n%s", diff)
			}
			delete(content, "jti")
			now := float64(a.now.Unix())
			wantContent := map[string]any{
				"iss": audience, "sub": "system:serviceaccount:demo:bot", "aud": []any{audience, "vault"},
				"iat": now, "nbf": now, "exp": now + 3600,
				"kubernetes.io": map[string]any{
					"namespace":      "demo",
					"serviceaccount": map[string]any{"name": "bot", "uid": a.claims.Account.UID},
				},
			}
			if diff := cmp.Diff(wantContent, content); diff != "" || jti == "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
		})
	}
}

// decode decodes a token without verifying it.
func decode(t *testing.T, token string) (header, content map[string]any) {
	t.Helper()
	segments := strings.Split(token, ".")
	for i, into := range []*map[string]any{&header, &content} {
		data, err := base64.RawURLEncoding.DecodeString(segments[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatal(err)
		}
	}
	return header, content
}

func TestInvalidTokens(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	token := a.issue()

	other := newAccounts(t, newECKey(t))
	other.claims = a.claims
	a.expectInvalid(other.issue(), "invalid signature, no keys found")
	head, _, _ := strings.Cut(token, ".")
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + strings.TrimPrefix(token, head)
	a.expectInvalid(unsigned, "go-jose/go-jose: error in cryptographic primitive")
	if identity, err := a.Identify(t.Context(), "not-a-token", []string{audience}); identity != nil || err != nil {
		t.Errorf("a malformed token: %v, %v", identity, err)
	}

	if _, err := a.Identify(t.Context(), token, []string{"other"}); err == nil || err.Error() !=
		`token audiences ["https://kubernetes.default.svc" "vault"] is invalid for the target audiences ["other"]` {
		t.Errorf("another audience: %v", err)
	}
	a.now = a.now.Add(time.Hour + 2*time.Minute)
	a.expectInvalid(token, "service account token has expired")
	a.now = a.now.Add(-2 * time.Hour)
	a.expectInvalid(token, "service account token is not valid yet")
}

func TestDeletedServiceAccounts(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	token, old := a.issue(), a.claims.Account.UID
	a.delete("serviceaccounts", "demo", "bot")
	a.expectInvalid(token, `serviceaccounts "bot" not found`)
	recreated := a.Create("serviceaccounts", &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "bot"}})
	a.expectInvalid(token, "service account UID ("+string(registrytest.Meta(recreated).GetUID())+") does not match claim ("+old+")")
}

func TestDeletedBoundObjects(t *testing.T) {
	for resource, bind := range map[string]func(*registry.TokenClaims, *registry.TokenObject){
		"pods":    func(c *registry.TokenClaims, o *registry.TokenObject) { c.Pod = o },
		"secrets": func(c *registry.TokenClaims, o *registry.TokenObject) { c.Secret = o },
		"nodes":   func(c *registry.TokenClaims, o *registry.TokenObject) { c.Node = o },
	} {
		t.Run(resource, func(t *testing.T) {
			a := newAccounts(t, newECKey(t))
			object := a.Store(resource).Resource().Versions[0].New()
			registrytest.Meta(object).SetName("x")
			namespace := ""
			if resource != "nodes" {
				namespace = "demo"
			}
			registrytest.Meta(object).SetNamespace(namespace)
			if pod, ok := object.(*corev1.Pod); ok {
				pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
			}
			stored := a.Create(resource, object)
			bind(&a.claims, &registry.TokenObject{Name: "x", UID: string(registrytest.Meta(stored).GetUID())})
			token := a.issue()
			identity, err := a.Identify(t.Context(), token, []string{audience})
			if err != nil {
				t.Fatal(err)
			}
			if resource == "pods" {
				if got := identity.User.Extra["authentication.kubernetes.io/pod-name"]; !cmp.Equal(got, authenticationv1.ExtraValue{"x"}) {
					t.Errorf("pod of the user: %v", got)
				}
			}
			a.delete(resource, namespace, "x")
			a.expectInvalid(token, "service account token has been invalidated")
		})
	}
}

func TestKeyFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, kind string, der []byte, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := newRSAKey(t).(*rsa.PrivateKey)
	private := write("sa.key", "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key), nil)
	der, err := x509.MarshalPKCS8PrivateKey(newECKey(t))
	pkcs8 := write("pkcs8.key", "PRIVATE KEY", der, err)
	der, err = x509.MarshalPKIXPublicKey(key.Public())
	public := write("sa.pub", "PUBLIC KEY", der, err)

	for _, path := range []string{private, pkcs8} {
		if _, err := LoadSigningKey(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := LoadSigningKey(public); err == nil {
		t.Error("a public key was accepted as a signing key")
	}
	for _, path := range []string{public, private} {
		keys, err := LoadVerificationKeys(path)
		if err != nil || len(keys) != 1 || !key.PublicKey.Equal(keys[0]) {
			t.Errorf("%s: %v, %v", path, keys, err)
		}
	}
	if _, err := LoadVerificationKeys(write("empty", "NONSENSE", nil, nil)); err == nil {
		t.Error("an unknown PEM block was accepted as a key")
	}
}
