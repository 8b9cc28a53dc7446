package authn

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// legacyToken signs a token as kube-controller-manager does. changes replaces claims; nil removes
// one.
func (a *accounts) legacyToken(changes map[string]any) string {
	a.Helper()
	claims := jwt.MapClaims{
		"iss":                                    "kubernetes/serviceaccount",
		"sub":                                    "system:serviceaccount:demo:bot",
		"kubernetes.io/serviceaccount/namespace": "demo",
		"kubernetes.io/serviceaccount/secret.name":          "bot-token",
		"kubernetes.io/serviceaccount/service-account.name": "bot",
		"kubernetes.io/serviceaccount/service-account.uid":  a.claims.Account.UID,
	}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return a.sign(claims)
}

// storeToken stores a token in the Secret demo/bot-token.
func (a *accounts) storeToken(token string) {
	a.Helper()
	a.Create("secrets", &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "demo", Name: "bot-token",
			Annotations: map[string]string{corev1.ServiceAccountNameKey: "bot"},
		},
		Type: corev1.SecretTypeServiceAccountToken,
		Data: map[string][]byte{corev1.ServiceAccountTokenKey: []byte(token)},
	})
}

func (a *accounts) changeSecret(change func(*corev1.Secret)) {
	a.Helper()
	_, err := a.Store("secrets").Update(a.Context(), registry.UpdateRequest{
		Namespace: "demo", Name: "bot-token",
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			next := current.DeepCopyObject().(*corev1.Secret)
			change(next)
			return next, nil
		},
	})
	if err != nil {
		a.Fatal(err)
	}
}

func (a *accounts) secret() *corev1.Secret {
	a.Helper()
	secret, err := registry.Read[*corev1.Secret](a.Context(), a.Store("secrets"), "demo", "bot-token", "")
	if err != nil {
		a.Fatal(err)
	}
	return secret
}

// listSecret lists a Secret in demo/bot, as the token controller did before v1.24.
func (a *accounts) listSecret(name string) {
	a.Helper()
	_, err := a.Store("serviceaccounts").Update(a.Context(), registry.UpdateRequest{
		Namespace: "demo", Name: "bot",
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			next := current.DeepCopyObject().(*corev1.ServiceAccount)
			next.Secrets = []corev1.ObjectReference{{Name: name}}
			return next, nil
		},
	})
	if err != nil {
		a.Fatal(err)
	}
}

func TestTokenInSecret(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	token := a.legacyToken(nil)
	a.expectInvalid(token, "Token has been invalidated")
	a.storeToken(token)
	identity, err := a.Identify(a.Context(), token, []string{audience})
	if err != nil {
		t.Fatal(err)
	}
	want := &registry.TokenIdentity{Audiences: []string{audience}, User: &authenticationv1.UserInfo{
		Username: "system:serviceaccount:demo:bot", UID: a.claims.Account.UID,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:demo"},
	}}
	if diff := cmp.Diff(want, identity); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := a.Identify(a.Context(), token, []string{"vault"}); err == nil {
		t.Error("the token is valid for another audience")
	}

	labelled := a.secret()
	if got := labelled.Labels[lastUsedLabel]; got != a.now.UTC().Format("2006-01-02") {
		t.Errorf("date of the last use %q", got)
	}
	if _, err := a.Identify(a.Context(), token, []string{audience}); err != nil || a.secret().ResourceVersion != labelled.ResourceVersion {
		t.Errorf("the second use on the same day writes the Secret, %v", err)
	}

	a.changeSecret(func(s *corev1.Secret) { s.Data[corev1.ServiceAccountTokenKey] = []byte("other") })
	a.expectInvalid(token, "Token does not match server's copy")
	a.delete("secrets", "demo", "bot-token")
	a.expectInvalid(token, "Token has been invalidated")
}

// The Secret alone decides how long its token is valid.
func TestTokenInSecretDoesNotExpire(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	token := a.legacyToken(map[string]any{"exp": a.now.Add(-time.Hour).Unix(), "nbf": a.now.Add(time.Hour).Unix(), "aud": "vault"})
	a.storeToken(token)
	if _, err := a.Identify(a.Context(), token, []string{"vault"}); err != nil {
		t.Error(err)
	}
	a.expectInvalid(token, `token audiences ["vault"] is invalid for the target audiences ["https://kubernetes.default.svc"]`)
}

// Another server, whose clock is ahead, has used the token.
func TestTokenInSecretUsedTomorrow(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	token := a.legacyToken(nil)
	a.storeToken(token)
	tomorrow := a.now.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	a.changeSecret(func(s *corev1.Secret) { s.Labels = map[string]string{lastUsedLabel: tomorrow} })
	if _, err := a.Identify(a.Context(), token, []string{audience}); err != nil || a.secret().Labels[lastUsedLabel] != tomorrow {
		t.Errorf("date of the last use %q, %v", a.secret().Labels[lastUsedLabel], err)
	}
}

func TestTokenInSecretMarkedInvalid(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	token := a.legacyToken(nil)
	a.storeToken(token)
	a.changeSecret(func(s *corev1.Secret) { s.Labels = map[string]string{invalidSinceLabel: "2026-01-01"} })
	a.expectInvalid(token, "the token in secret demo/bot-token for service account demo/bot has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the 'kubernetes.io/legacy-token-invalid-since' label from the secret to temporarily allow use of this token")
}

func TestAutoGeneratedTokenWarns(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	token := a.legacyToken(nil)
	a.storeToken(token)
	a.listSecret("bot-token")
	ctx, warnings := registry.WithWarnings(a.Context())
	if _, err := a.Identify(ctx, token, []string{audience}); err != nil || len(warnings.List()) != 1 {
		t.Errorf("warnings %q, %v", warnings.List(), err)
	}
}

func TestInvalidTokensInSecrets(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	for reason, changes := range map[string]map[string]any{
		"sub claim is missing":               {"sub": nil, "kubernetes.io/serviceaccount/namespace": nil},
		"secretName claim is missing":        {"kubernetes.io/serviceaccount/secret.name": nil},
		"namespace claim is missing":         {"kubernetes.io/serviceaccount/namespace": nil},
		"sub claim is invalid":               {"sub": "system:serviceaccount:demo:other"},
		"serviceAccountUID claim is missing": {"kubernetes.io/serviceaccount/service-account.uid": ""},
	} {
		a.expectInvalid(a.legacyToken(changes), reason)
	}
	a.expectInvalid(a.legacyToken(map[string]any{ // no service account has such a name
		"sub": "system:serviceaccount:demo:Bot", "kubernetes.io/serviceaccount/service-account.name": "Bot",
	}), "sub claim is invalid")
	other := newAccounts(t, newECKey(t))
	forged := other.legacyToken(map[string]any{"kubernetes.io/serviceaccount/service-account.uid": a.claims.Account.UID})
	a.storeToken(forged)
	if identity, err := a.Identify(a.Context(), forged, []string{audience}); identity != nil || err == nil {
		t.Errorf("a token with another signature: %v, %v", identity, err)
	}
}

func TestTokenInSecretOfAnotherAccount(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	token := a.legacyToken(map[string]any{"kubernetes.io/serviceaccount/service-account.uid": "old"})
	a.storeToken(token)
	a.expectInvalid(token, "ServiceAccount UID ("+a.claims.Account.UID+") does not match claim (old)")
	a.config.SkipLookup = true
	if _, err := a.Identify(a.Context(), token, []string{audience}); err != nil {
		t.Errorf("without lookup: %v", err)
	}
}
