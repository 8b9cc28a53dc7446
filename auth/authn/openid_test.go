package authn

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
)

// The documents suffice to verify tokens of every algorithm.
func TestOpenIDDocumentsVerifyTokens(t *testing.T) {
	curve384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	curve521, err := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for algorithm, key := range map[string]crypto.Signer{"RS256": newRSAKey(t), "ES256": newECKey(t), "ES384": curve384, "ES512": curve521} {
		t.Run(algorithm, func(t *testing.T) {
			a := newAccounts(t, key)
			documents, err := a.OpenID("https://127.0.0.1/keys")
			if err != nil {
				t.Fatal(err)
			}
			want := `{"issuer":"` + audience + `","jwks_uri":"https://127.0.0.1/keys","response_types_supported":["id_token"],` +
				`"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["` + algorithm + `"]}`
			if diff := cmp.Diff(want, documentOf(t, documents.Configuration)); diff != "" {
				t.Error(diff)
			}
			if _, err := jwt.Parse(a.issue(), func(token *jwt.Token) (any, error) {
				return publishedKey(t, []byte(documentOf(t, documents.Keys)), token.Header["kid"]), nil
			}, jwt.WithValidMethods([]string{algorithm})); err != nil {
				t.Error(err)
			}
		})
	}
}

func documentOf(t *testing.T, document func() ([]byte, error)) string {
	t.Helper()
	text, err := document()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// publishedKey returns the key with an id from a key set.
func publishedKey(t *testing.T, document []byte, id any) crypto.PublicKey {
	t.Helper()
	var set struct{ Keys []map[string]string }
	if err := json.Unmarshal(document, &set); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(set.Keys, func(key map[string]string) bool { return key["kid"] == id && key["use"] == "sig" })
	if i < 0 {
		t.Fatalf("no key %v in %s", id, document)
	}
	key := set.Keys[i]
	number := func(name string) []byte {
		data, err := base64.RawURLEncoding.DecodeString(key[name])
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if key["kty"] == "RSA" {
		return &rsa.PublicKey{N: new(big.Int).SetBytes(number("n")), E: int(new(big.Int).SetBytes(number("e")).Int64())}
	}
	curve := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}[key["crv"]]
	public, err := ecdsa.ParseUncompressedPublicKey(curve, slices.Concat([]byte{4}, number("x"), number("y")))
	if err != nil {
		t.Fatal(err)
	}
	return public
}

func TestOpenIDPublishesAllVerificationKeys(t *testing.T) {
	old, key := newRSAKey(t), newECKey(t)
	accounts, err := NewServiceAccounts(ServiceAccountConfig{
		Issuers: []string{audience}, SigningKey: key, VerificationKeys: []crypto.PublicKey{key.Public(), old.Public()},
	})
	if err != nil {
		t.Fatal(err)
	}
	documents, err := accounts.OpenID("https://127.0.0.1/keys")
	if err != nil {
		t.Fatal(err)
	}
	configuration, keys := documentOf(t, documents.Configuration), documentOf(t, documents.Keys)
	if !strings.Contains(configuration, `["ES256","RS256"]`) || strings.Count(keys, `"kid"`) != 2 {
		t.Errorf("%s\n%s", configuration, keys)
	}
}

func TestOpenIDRejectsInvalidIssuers(t *testing.T) {
	for _, issuer := range []string{"api", "http://api.example", "https://api.example?a", "https://api.example#a"} {
		accounts, err := NewServiceAccounts(ServiceAccountConfig{Issuers: []string{issuer}, SigningKey: newECKey(t)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := accounts.OpenID("https://127.0.0.1/keys"); err == nil {
			t.Errorf("issuer %s was accepted", issuer)
		}
	}
}

// Without a configured key, the first token or document generates one, and all use it.
func TestTheSigningKeyIsGeneratedOnDemand(t *testing.T) {
	a := newAccounts(t, nil)
	token := a.issue()
	documents, err := a.OpenID("https://127.0.0.1/keys")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jwt.Parse(token, func(token *jwt.Token) (any, error) {
		return publishedKey(t, []byte(documentOf(t, documents.Keys)), token.Header["kid"]), nil
	}); err != nil {
		t.Error(err)
	}
}
