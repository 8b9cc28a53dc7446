package integration_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// An expired serving certificate makes the server unready, but does not end it. It is ready again
// when the files are replaced.
func TestExpiredServingCertificateIsReported(t *testing.T) {
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"},
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	check(t, err)
	write(t, dir, "serving.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})))
	write(t, dir, "serving.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	server := servertest.Start(t, miniapi.Config{
		Secure: &miniapi.Secure{CertFile: dir + "/serving.crt", KeyFile: dir + "/serving.key"}, Listen: "127.0.0.1:0",
	})
	get := func(path string) string { return request(t, http.MethodGet, server.PlainURL()+path, "", "") }
	for path, want := range map[string]string{
		"/livez":                      "ok",
		"/healthz":                    "[-]serving-certificate failed: the serving certificate expired at 2021-01-01T00:00:00Z: replace --tls-cert-file",
		"/readyz":                     "[-]serving-certificate failed: the serving certificate expired at 2021-01-01T00:00:00Z: replace --tls-cert-file",
		"/readyz/serving-certificate": "internal server error: the serving certificate expired at 2021-01-01T00:00:00Z",
	} {
		if got := get(path); !strings.Contains(got, want) {
			t.Errorf("%s is\n%s", path, got)
		}
	}
	pair, err := newAuthority(t, "ca").IssueServing("127.0.0.1")
	check(t, err)
	write(t, dir, "serving.key", string(pair.Key))
	write(t, dir, "serving.crt", string(pair.Certificate))
	await(t, func() bool { return get("/readyz") == "ok" && get("/healthz") == "ok" })
}
