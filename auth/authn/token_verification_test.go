package authn

import (
	"crypto"
	"encoding/base64"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/registry"
)

// sign returns a token with claims, signed by the key of the accounts.
func (a *accounts) sign(claims jwt.MapClaims) string {
	a.Helper()
	keys, err := a.keys()
	if err != nil {
		a.Fatal(err)
	}
	return a.signWith(keys.signer, keys.id, claims)
}

// signWith returns a token with claims and a key id. The key id nil is left out.
func (a *accounts) signWith(key crypto.Signer, id any, claims jwt.MapClaims) string {
	a.Helper()
	method, err := signingMethodOf(key.Public())
	if err != nil {
		a.Fatal(err)
	}
	token := jwt.NewWithClaims(method, claims)
	if id != nil {
		token.Header["kid"] = id
	}
	signed, err := token.SignedString(key)
	if err != nil {
		a.Fatal(err)
	}
	return signed
}

// botClaims returns the claims of a token of demo/bot that never expires and has no audience.
// changes replaces claims.
func (a *accounts) botClaims(changes map[string]any) jwt.MapClaims {
	claims := jwt.MapClaims{
		"iss": audience, "sub": "system:serviceaccount:demo:bot",
		"kubernetes.io": map[string]any{
			"namespace": "demo", "serviceaccount": map[string]any{"name": "bot", "uid": a.claims.Account.UID},
		},
	}
	maps.Copy(claims, changes)
	return claims
}

func TestKeysAreSelectedByTheirID(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	first, second := newRSAKey(t), newECKey(t)
	a.config.VerificationKeys = []crypto.PublicKey{first.Public(), second.Public()}
	keys, err := a.config.tokenKeys()
	if err != nil {
		t.Fatal(err)
	}
	a.keys = func() (*tokenKeys, error) { return keys, nil }
	idOfFirst, idOfSecond := keys.public[0].id, keys.public[1].id
	for name, tc := range map[string]struct {
		key crypto.Signer
		id  any
		err string // "": the token is valid
	}{
		"the id of the key":     {second, idOfSecond, ""},
		"no id":                 {second, nil, ""},
		"an empty id":           {first, "", ""},
		"an unknown id":         {second, "unknown", "invalid signature, no keys found"},
		"the id of another key": {second, idOfFirst, "go-jose/go-jose: error in cryptographic primitive"},
		"no id and another key": {newECKey(t), nil, "go-jose/go-jose: error in cryptographic primitive"},
		"a signing key only":    {a.config.SigningKey, keys.id, "invalid signature, no keys found"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := a.Identify(t.Context(), a.signWith(tc.key, tc.id, a.botClaims(nil)), []string{audience})
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || err.Error() != tc.err) {
				t.Errorf("got  %v\nwant %s", err, tc.err)
			}
		})
	}
}

func TestSignatureAlgorithms(t *testing.T) {
	a := newAccounts(t, newRSAKey(t))
	for _, method := range []jwt.SigningMethod{jwt.SigningMethodRS512, jwt.SigningMethodPS256, jwt.SigningMethodPS512} {
		token, err := jwt.NewWithClaims(method, a.botClaims(nil)).SignedString(a.config.SigningKey)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Identify(t.Context(), token, []string{audience}); err != nil {
			t.Errorf("%s: %v", method.Alg(), err)
		}
	}
	_, rest, _ := strings.Cut(a.issue(), ".")
	for header, reason := range map[string]string{
		`{"alg":"X"}`:    "go-jose/go-jose: error in cryptographic primitive",
		`{"alg":"none"}`: "go-jose/go-jose: error in cryptographic primitive",
		`{}`:             "go-jose/go-jose: error in cryptographic primitive",
		`{"alg":1}`:      "",
		`[]`:             "",
	} {
		token := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + rest
		identity, err := a.Identify(t.Context(), token, []string{audience})
		if identity != nil || reason == "" && err != nil || reason != "" && (err == nil || err.Error() != reason) {
			t.Errorf("%s: %v, want %s", header, err, reason)
		}
	}
}

// A server that does not support a critical extension must reject the token, see RFC 7515.
func TestCriticalExtensions(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	token := jwt.NewWithClaims(jwt.SigningMethodES256, a.botClaims(nil))
	token.Header["crit"] = []string{"x"}
	signed, err := token.SignedString(a.config.SigningKey)
	if err != nil {
		t.Fatal(err)
	}
	a.expectInvalid(signed, "go-jose/go-jose: error in cryptographic primitive")
}

// signText returns a token with a header and a payload, signed by the key of the accounts.
func (a *accounts) signText(header, payload string) string {
	a.Helper()
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(header)) + "." + encode([]byte(payload))
	signature, err := jwt.SigningMethodES256.Sign(text, a.config.SigningKey)
	if err != nil {
		a.Fatal(err)
	}
	return text + "." + encode(signature)
}

func TestDuplicateClaims(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	const issuer = `"iss":"` + audience + `"`
	a.expectInvalid(a.signText(`{"alg":"ES256"}`, `{`+issuer+`,"sub":"a","sub":"b"}`), `duplicate field "sub"`)
	// A token whose header repeats a name is no JSON Web Token.
	repeated := a.signText(`{"alg":"none","alg":"ES256"}`, `{`+issuer+`}`)
	if identity, err := a.Identify(t.Context(), repeated, []string{audience}); identity != nil || err != nil {
		t.Errorf("a repeated name in the header: %v, %v", identity, err)
	}
}

func TestClaims(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	after := func(d time.Duration) int64 { return a.now.Add(d).Unix() }
	for name, tc := range map[string]struct {
		changes   map[string]any
		requested []string
		want      []string // the accepted audiences
		err       string
	}{
		"without expiry and audience": {nil, []string{audience}, []string{audience}, ""},
		"without audience, for another server": {nil, []string{"vault"}, nil,
			`token audiences ["https://kubernetes.default.svc"] is invalid for the target audiences ["vault"]`},
		"audiences in the order of the request": {map[string]any{"aud": []string{"a", "b", "c"}}, []string{"c", "x", "a"}, []string{"c", "a"}, ""},
		"within the leeway":                     {map[string]any{"exp": after(-leeway), "nbf": after(leeway), "iat": after(leeway)}, []string{audience}, []string{audience}, ""},
		"expired":                               {map[string]any{"exp": after(-leeway - time.Second)}, []string{audience}, nil, "service account token has expired"},
		"not yet valid":                         {map[string]any{"nbf": after(leeway + time.Second)}, []string{audience}, nil, "service account token is not valid yet"},
		"issued later":                          {map[string]any{"iat": after(leeway + time.Second)}, []string{audience}, nil, "service account token is issued in the future"},
		"expired, for another audience": {map[string]any{"exp": 1, "aud": "vault"}, []string{audience}, nil,
			`token audiences ["vault"] is invalid for the target audiences ["https://kubernetes.default.svc"]`},
		"without service account": {map[string]any{"kubernetes.io": map[string]any{"namespace": "demo"}}, []string{audience}, nil, "resource name may not be empty"},
		"an invalid name": {map[string]any{"kubernetes.io": map[string]any{"namespace": "demo", "serviceaccount": map[string]any{"name": "a/b"}}}, []string{audience}, nil,
			`invalid resource name "a/b": [may not contain '/']`},
		"an invalid namespace": {map[string]any{"kubernetes.io": map[string]any{"namespace": "a/b", "serviceaccount": map[string]any{"name": "bot"}}}, []string{audience}, nil,
			`invalid namespace "a/b": [may not contain '/']`},
		"without namespace": {map[string]any{"kubernetes.io": map[string]any{"serviceaccount": map[string]any{"name": "bot"}}}, []string{audience}, nil,
			"the server could not find the requested resource"},
		"a single audience":            {map[string]any{"aud": "vault"}, []string{"vault"}, []string{"vault"}, ""},
		"no list of audiences":         {map[string]any{"aud": 1}, []string{audience}, nil, "go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience"},
		"a time in a string":           {map[string]any{"exp": "4102444800"}, []string{audience}, nil, "go-jose/go-jose/jwt: expected number value to unmarshal NumericDate"},
		"a claim in other case":        {map[string]any{"EXP": 1}, []string{audience}, []string{audience}, ""},
		"without claims of Kubernetes": {map[string]any{"kubernetes.io": nil}, []string{audience}, nil, "resource name may not be empty"},
	} {
		t.Run(name, func(t *testing.T) {
			identity, err := a.Identify(t.Context(), a.sign(a.botClaims(tc.changes)), tc.requested)
			if tc.err != "" {
				if err == nil || err.Error() != tc.err {
					t.Errorf("got  %v\nwant %s", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, identity.Audiences); diff != "" {
				t.Errorf("audiences (-want +got):\n%s", diff)
			}
		})
	}
}

// Tokens that other servers bind to objects which this server does not check are not accepted.
func TestTokensBoundToWebhooksAreRejected(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	for _, kind := range []string{"validatingwebhookconfiguration", "mutatingwebhookconfiguration"} {
		token := a.sign(a.botClaims(map[string]any{"kubernetes.io": map[string]any{
			"namespace": "demo", "serviceaccount": map[string]any{"name": "bot", "uid": a.claims.Account.UID},
			kind: map[string]any{"name": "hook", "uid": "1"},
		}}))
		a.expectInvalid(token, `feature gate "APIServerWebhookAuthenticationToken" is disabled, but token is webhook bound`)
	}
}

// A review reads the token as the Authorization header would be read, and its request receives no
// warning about the token.
func TestReviewedTokens(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	tokens := Tokens{ServiceAccounts: a.ServiceAccounts, Any: AnyOf(a.ServiceAccounts.Identify)}
	ctx, warnings := registry.WithWarnings(a.Context())
	for token, valid := range map[string]bool{
		a.issue() + "\n": true, a.issue() + " more": true, " " + a.issue(): false, " ": false,
	} {
		if _, err := tokens.Identify(ctx, token, []string{audience}); (err == nil) != valid {
			t.Errorf("%.5q: %v", token, err)
		}
	}
	auto := a.legacyToken(nil)
	a.storeToken(auto)
	a.listSecret("bot-token")
	if _, err := tokens.Identify(ctx, auto, []string{audience}); err != nil || len(warnings.List()) != 0 {
		t.Errorf("warnings %q, %v", warnings.List(), err)
	}
}

// Uses of tokens are counted and annotated by the kind of the token.
func TestUsesOfTokens(t *testing.T) {
	a := newAccounts(t, newECKey(t))
	annotations := func(token string) map[string]string {
		t.Helper()
		ctx, collector := registry.WithAuditAnnotations(a.Context())
		if _, err := a.Identify(ctx, token, []string{audience}); err != nil {
			t.Error(err)
		}
		return collector.All()
	}
	const subject = "system:serviceaccount:demo:bot"
	if diff := cmp.Diff(map[string]string{"authentication.k8s.io/legacy-token": subject}, annotations(a.sign(a.botClaims(nil)))); diff != "" {
		t.Errorf("a token without audience (-want +got):\n%s", diff)
	}
	legacy := a.legacyToken(nil)
	a.storeToken(legacy)
	want := map[string]string{"authentication.k8s.io/legacy-token": subject, "authentication.k8s.io/legacy-token-manual-secret": "bot-token"}
	if diff := cmp.Diff(want, annotations(legacy)); diff != "" {
		t.Errorf("a token in a Secret (-want +got):\n%s", diff)
	}
	a.listSecret("bot-token")
	want = map[string]string{"authentication.k8s.io/legacy-token": subject, "authentication.k8s.io/legacy-token-autogenerated-secret": "bot-token"}
	if diff := cmp.Diff(want, annotations(legacy)); diff != "" {
		t.Errorf("a generated token (-want +got):\n%s", diff)
	}

	a.claims.WarnAfter, a.claims.Lifetime = time.Hour, 365*24*time.Hour
	extended := a.issue()
	if got := annotations(extended); got != nil {
		t.Errorf("an extended token within the requested lifetime: %v", got)
	}
	a.now = a.now.Add(time.Hour + 5*time.Second)
	want = map[string]string{"authentication.k8s.io/stale-token": "subject: " + subject + ", seconds after warning threshold: 5"}
	if diff := cmp.Diff(want, annotations(extended)); diff != "" {
		t.Errorf("an extended token (-want +got):\n%s", diff)
	}

	a.changeSecret(func(s *corev1.Secret) { s.Labels = map[string]string{invalidSinceLabel: "2026-01-01"} })
	if _, err := a.Identify(a.Context(), legacy, []string{audience}); err == nil {
		t.Error("an invalidated token is accepted")
	}
	uses := map[string]float64{
		"serviceaccount_valid_tokens_total": 1, "serviceaccount_stale_tokens_total": 1, "serviceaccount_legacy_tokens_total": 3,
		"serviceaccount_legacy_auto_token_uses_total": 1, "serviceaccount_legacy_manual_token_uses_total": 1,
		"serviceaccount_invalid_legacy_auto_token_uses_total": 1,
	}
	if diff := cmp.Diff(uses, a.counters()); diff != "" {
		t.Errorf("uses of tokens (-want +got):\n%s", diff)
	}
}

// counters returns the metrics of the tokens.
func (a *accounts) counters() map[string]float64 {
	a.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(a.Collector())
	families, err := registry.Gather()
	if err != nil {
		a.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		values[family.GetName()] = family.GetMetric()[0].GetCounter().GetValue()
	}
	return values
}
