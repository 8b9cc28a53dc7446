// Package oidctest has an OpenID Connect issuer for tests, behind a real HTTPS port.
package oidctest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Issuer issues tokens and serves its keys. It is safe for concurrent use.
type Issuer struct {
	// URL is the issuer, CA its certificate in PEM.
	URL, CA string

	mu       sync.Mutex // guards the fields below
	key      *ecdsa.PrivateKey
	keyID    int
	requests []string
	redirect string
	padding  int
	silent   string
	down     bool
}

// NewIssuer starts an issuer with one key. It ends with the test.
func NewIssuer(t *testing.T) *Issuer {
	t.Helper()
	i := &Issuer{}
	i.Rotate()
	server := httptest.NewTLSServer(i)
	t.Cleanup(server.Close)
	i.URL = server.URL
	i.CA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	return i
}

// Rotate replaces the key.
func (i *Issuer) Rotate() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // the random source of the system cannot fail
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.key = key
	i.keyID++
}

// Fail makes all requests fail until Recover is called.
func (i *Issuer) Fail() { i.set(func() { i.down = true }) }

// Recover ends the effect of Fail.
func (i *Issuer) Recover() { i.set(func() { i.down = false }) }

// Redirect answers all requests with redirects to a URL.
func (i *Issuer) Redirect(url string) { i.set(func() { i.redirect = url }) }

// Pad adds a number of spaces before the keys.
func (i *Issuer) Pad(spaces int) { i.set(func() { i.padding = spaces }) }

// Ignore leaves requests for a path without an answer until their clients end them.
func (i *Issuer) Ignore(path string) { i.set(func() { i.silent = path }) }

func (i *Issuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

// Requests returns the paths of all requests.
func (i *Issuer) Requests() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]string(nil), i.requests...)
}

// Token returns a token for the user "ann" and the audience "miniapi", which is valid for an hour.
// claims are added. A claim replaces a default claim of the same name; nil removes it.
func (i *Issuer) Token(t *testing.T, claims map[string]any) string {
	t.Helper()
	all := jwt.MapClaims{
		"iss": i.URL, "sub": "ann", "aud": "miniapi",
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	maps.Copy(all, claims)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	i.mu.Lock()
	defer i.mu.Unlock()
	token := jwt.NewWithClaims(jwt.SigningMethodES256, all)
	token.Header["kid"] = fmt.Sprint(i.keyID)
	signed, err := token.SignedString(i.key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// ServeHTTP serves the discovery document, also at /elsewhere, and the keys.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var ignored bool
	i.set(func() {
		i.requests = append(i.requests, r.URL.Path)
		ignored = i.silent == r.URL.Path
	})
	if ignored {
		<-r.Context().Done()
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case i.down:
		http.Error(w, "the issuer is down", http.StatusServiceUnavailable)
	case i.redirect != "":
		http.Redirect(w, r, i.redirect+r.URL.Path, http.StatusFound)
	case r.URL.Path == "/keys":
		_, _ = w.Write(bytes.Repeat([]byte(" "), i.padding)) // takes much less time than JSON of this length
		_ = json.NewEncoder(w).Encode(i.keys())
	case r.URL.Path == "/.well-known/openid-configuration" || r.URL.Path == "/elsewhere":
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	default:
		http.NotFound(w, r)
	}
}

func (i *Issuer) keys() map[string]any {
	point, err := i.key.PublicKey.Bytes() // 4, X, Y
	if err != nil {
		panic(err) // the curve is supported
	}
	encode := base64.RawURLEncoding.EncodeToString
	key := map[string]any{
		"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": fmt.Sprint(i.keyID),
		"x": encode(point[1:33]), "y": encode(point[33:]),
	}
	return map[string]any{"keys": []any{key}}
}
