package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/internal/leaktest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

func newAuthority(t *testing.T) *Authority {
	t.Helper()
	authority, err := NewAuthority("test-ca")
	if err != nil {
		t.Fatal(err)
	}
	return authority
}

func TestHandshake(t *testing.T) {
	authority := newAuthority(t)
	serving, err := authority.IssueServing("localhost", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	client, err := authority.IssueClient("jane", "dev", "ops")
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	authority.AddTo(pool)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject := r.TLS.PeerCertificates[0].Subject
		io.WriteString(w, subject.CommonName+" of "+strings.Join(subject.Organization, ","))
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{mustTLS(t, serving)}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	server.StartTLS()
	defer server.Close()

	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.CertificatePEM())
	if got := get(t, server.URL, &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{mustTLS(t, client)}}); got != "jane of dev,ops" {
		t.Errorf("got %q", got)
	}
	// The file of the serving certificate includes the CA.
	bundled := x509.NewCertPool()
	bundled.AppendCertsFromPEM(serving.Certificate)
	if got := get(t, server.URL, &tls.Config{RootCAs: bundled, Certificates: []tls.Certificate{mustTLS(t, client)}}); got != "jane of dev,ops" {
		t.Errorf("got %q", got)
	}
}

func get(t *testing.T, url string, config *tls.Config) string {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func mustTLS(t *testing.T, pair Pair) tls.Certificate {
	t.Helper()
	certificate, err := pair.TLS()
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func loadBundle(path string) error {
	_, _, err := LoadBundle(path)
	return err
}

func TestLoadErrorsNameTheFile(t *testing.T) {
	invalid := filepath.Join(t.TempDir(), "invalid")
	if err := os.WriteFile(invalid, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := loadBundle(invalid); err == nil || !strings.Contains(err.Error(), invalid) {
		t.Errorf("client CA: %v", err)
	}
	if _, err := LoadPair(invalid, invalid); err == nil || !strings.Contains(err.Error(), invalid) {
		t.Errorf("serving certificate: %v", err)
	}
	if err := loadBundle(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing client CA: %v", err)
	}
}
