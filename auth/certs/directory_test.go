package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func servingOf(t *testing.T, dir Directory, listen string) Pair {
	t.Helper()
	authority, err := dir.Authority("ca", "test")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Serving(ServingConfig{Dir: dir, Listen: listen, ServiceIP: netip.MustParseAddr("10.0.0.1")})
	if err != nil {
		t.Fatal(err)
	}
	return pair.Get().Pair
}

func newDirectory(t *testing.T) Directory { return Directory(filepath.Join(t.TempDir(), "pki")) }

func TestDirectoryKeepsCertificates(t *testing.T) {
	dir := newDirectory(t)
	first := servingOf(t, dir, "127.0.0.1:0")
	if again := servingOf(t, dir, "127.0.0.1:0"); !bytes.Equal(first.Certificate, again.Certificate) {
		t.Error("a valid serving certificate was replaced")
	}
	front, err := NewFrontProxy(FrontProxyConfig{Dir: dir}).Certificate()
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewFrontProxy(FrontProxyConfig{Dir: dir}).Certificate()
	if err != nil || !again.Leaf.Equal(front.Leaf) {
		t.Errorf("the front-proxy certificate was replaced, %v", err)
	}
	for name, mode := range map[string]fs.FileMode{
		".": 0o700, "ca.crt": 0o644, "ca.key": 0o600, "apiserver.crt": 0o644, "apiserver.key": 0o600,
		"front-proxy-ca.key": 0o600, "front-proxy-client.key": 0o600,
	} {
		if info, err := os.Stat(dir.path(name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// A server that moves to another address gets a serving certificate for it. Clients trust it, since
// the CA is the same.
func TestServingCertificateForAnotherAddress(t *testing.T) {
	dir := newDirectory(t)
	first := servingOf(t, dir, "127.0.0.1:0")
	second := servingOf(t, dir, "192.0.2.7:443")
	leaf, err := second.leaf()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(first.Certificate)
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "192.0.2.7"}); err != nil {
		t.Error(err)
	}
}

func TestExpiredCertificates(t *testing.T) {
	dir := newDirectory(t)
	authority, err := dir.Authority("ca", "test")
	if err != nil {
		t.Fatal(err)
	}
	expire := func(c *x509.Certificate) *x509.Certificate {
		copied := *c
		copied.NotAfter = time.Now().Add(-time.Second)
		return &copied
	}
	leaf, err := servingOf(t, dir, "127.0.0.1:0").leaf()
	if err != nil {
		t.Fatal(err)
	}
	if !authority.usable("127.0.0.1")(leaf) || authority.usable("127.0.0.1")(expire(leaf)) {
		t.Error("an expired certificate is used, or a valid one is not")
	}
	foreign, err := newAuthority(t).IssueServing("elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	if leaf, err = foreign.leaf(); err != nil || !authority.usable("127.0.0.1")(expire(leaf)) {
		t.Errorf("the certificate of another CA would be replaced, %v", err)
	}
}

// The owner of an external CA keeps its key elsewhere. The files of that CA remain as they are.
func TestExternalAuthority(t *testing.T) {
	dir := newDirectory(t)
	external := newAuthority(t)
	client, err := external.IssueClient("front-proxy-client")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(string(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"ca.crt": external.CertificatePEM(), "front-proxy-ca.crt": external.CertificatePEM(),
		"front-proxy-client.crt": client.Certificate, "front-proxy-client.key": client.Key,
	} {
		if err := os.WriteFile(dir.path(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	servingOf(t, dir, "127.0.0.1:0")
	if _, err := os.Stat(dir.path("ca.key")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a key was created beside the external CA: %v", err)
	}
	front := NewFrontProxy(FrontProxyConfig{Dir: dir})
	if ca, err := front.CA(); err != nil || !bytes.Equal(ca, external.CertificatePEM()) {
		t.Errorf("CA %s, %v", ca, err)
	}
	want, err := client.TLS()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := front.Certificate(); err != nil || !got.Leaf.Equal(want.Leaf) {
		t.Errorf("certificate %v, %v", got, err)
	}
}

func TestDirectoryWithAMissingKey(t *testing.T) {
	dir := newDirectory(t)
	authority := newAuthority(t)
	servingOf(t, dir, "127.0.0.1:0")
	if err := os.Remove(dir.path("apiserver.key")); err != nil {
		t.Fatal(err)
	}
	_, err := authority.Serving(ServingConfig{Dir: dir, Listen: "127.0.0.1:0"})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "apiserver.key") {
		t.Errorf("missing key: %v", err)
	}
}

// Servers that start at the same time with the same directory use the same CA and the same secrets.
func TestDirectoryOfSeveralServers(t *testing.T) {
	dir := newDirectory(t)
	var mu sync.Mutex
	found := map[string]bool{}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			authority, err := dir.Authority("ca", "test")
			if err != nil {
				t.Error(err)
				return
			}
			secret, err := dir.Secret("secret", func() ([]byte, error) { return []byte(time.Now().String()), nil })
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			found[string(authority.CertificatePEM())+string(secret)] = true
		})
	}
	group.Wait()
	if len(found) != 1 {
		t.Errorf("%d different directories", len(found))
	}
}

// A crash ends a server between the two files of a pair, the first or a later one. The next server
// finishes the write.
func TestDirectoryAfterACrash(t *testing.T) {
	dir := newDirectory(t)
	if err := os.MkdirAll(string(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		pair, err := newAuthorityPair("test")
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(os.WriteFile(dir.path("ca.crt.new"), pair.Certificate, 0o644), os.WriteFile(dir.path("ca.key"), pair.Key, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		authority, err := dir.Authority("ca", "test")
		if err != nil || !bytes.Equal(authority.CertificatePEM(), pair.Certificate) {
			t.Errorf("another certificate than the one of the key, %v", err)
		}
	}
}

// A server that finds a key without its certificate waits for the server that is writing them.
func TestDirectoryInTheMiddleOfAWrite(t *testing.T) {
	dir := newDirectory(t)
	lock, err := dir.lock()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := newAuthorityPair("test")
	if err == nil {
		err = os.WriteFile(dir.path("ca.key"), pair.Key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		authority *Authority
		err       error
	}
	loaded := make(chan result, 1)
	go func() {
		authority, err := dir.Authority("ca", "test")
		loaded <- result{authority, err}
	}()
	select {
	case got := <-loaded:
		t.Errorf("loaded without the lock: %v", got.err)
		loaded <- got
	case <-time.After(20 * lockInterval):
	}
	if err := os.WriteFile(dir.path("ca.crt"), pair.Certificate, 0o644); err != nil {
		t.Error(err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
	if got := <-loaded; got.err != nil || !bytes.Equal(got.authority.CertificatePEM(), pair.Certificate) {
		t.Errorf("another certificate than the stored one, %v", got.err)
	}
}

func TestFrontProxyFromFiles(t *testing.T) {
	authority := newAuthority(t)
	pair, err := authority.IssueClient("gateway")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := FrontProxyConfig{Logger: slog.New(slog.DiscardHandler), CertFile: filepath.Join(dir, "a.crt"), KeyFile: filepath.Join(dir, "a.key")}
	if err := errors.Join(os.WriteFile(config.CertFile, pair.Certificate, 0o600), os.WriteFile(config.KeyFile, pair.Key, 0o600)); err != nil {
		t.Fatal(err)
	}
	front := NewFrontProxy(config)
	if name, err := front.Name(); name != "gateway" || err != nil {
		t.Errorf("name %q, %v", name, err)
	}
	if ca, err := front.CA(); ca != nil || err != nil {
		t.Errorf("CA %s, %v", ca, err)
	}
	if pair, err = authority.IssueClient("new-gateway"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config.CertFile, pair.Certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	reloaded, err := front.load()
	if err != nil {
		t.Fatal(err)
	}
	reloaded.checked = time.Time{}
	if name, err := front.Name(); name != "gateway" || err != nil {
		t.Errorf("after a change of the certificate without its key: name %q, %v", name, err)
	}
	if err := os.WriteFile(config.KeyFile, pair.Key, 0o600); err != nil {
		t.Fatal(err)
	}
	reloaded.checked = time.Time{}
	if name, err := front.Name(); name != "new-gateway" || err != nil {
		t.Errorf("after a change: name %q, %v", name, err)
	}
	var certificate *tls.Certificate
	if certificate, err = NewFrontProxy(FrontProxyConfig{CertFile: "none.crt"}).Certificate(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v, %v", certificate, err)
	}
}
