package integration_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// statusFor lists secrets with the given credentials and returns the status code.
func statusFor(t *testing.T, server *miniapi.Server, header http.Header, certificates ...tls.Certificate) int {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(server.RESTConfig().CAData)
	// Send the certificate even if its CA is not among those that the server names.
	certificate := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if len(certificates) == 0 {
			return &tls.Certificate{}, nil
		}
		return &certificates[0], nil
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, GetClientCertificate: certificate}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"/api/v1/secrets", nil)
	check(t, err)
	r.Header = header
	res, err := transport.RoundTrip(r)
	check(t, err)
	res.Body.Close()
	return res.StatusCode
}

// accountToken creates a service account and returns a token of it.
func accountToken(t *testing.T, server *miniapi.Server, audiences ...string) string {
	t.Helper()
	accounts := servertest.Client(t, server.RESTConfig()).CoreV1().ServiceAccounts("kube-system")
	account, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{GenerateName: "admin-"}}, metav1.CreateOptions{})
	check(t, err)
	token, err := accounts.CreateToken(t.Context(), account.Name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}, metav1.CreateOptions{})
	check(t, err)
	return token.Status.Token
}

func TestForgedTokensAreRejected(t *testing.T) {
	server, other := secureServer(t, nil), secureServer(t, nil)
	token := accountToken(t, server)
	parts := strings.Split(token, ".")
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	check(t, err)
	masters := encode(strings.NewReplacer("admin-", "root-").Replace(string(payload)))
	mac := hmac.New(sha256.New, server.RESTConfig().CAData)
	mac.Write([]byte(encode(`{"alg":"HS256"}`) + "." + parts[1]))

	for name, forged := range map[string]string{
		"no algorithm":                     encode(`{"alg":"none"}`) + "." + parts[1] + ".",
		"no algorithm, with a signature":   encode(`{"alg":"none"}`) + "." + parts[1] + "." + parts[2],
		"a public certificate as HMAC key": encode(`{"alg":"HS256"}`) + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)),
		"another subject":                  parts[0] + "." + masters + "." + parts[2],
		"no signature":                     parts[0] + "." + parts[1] + ".",
		"half a signature":                 token[:len(token)-20],
		"extra characters":                 token + "A.A",
		"the key of another server":        accountToken(t, other),
		"another audience":                 accountToken(t, server, "vault"),
		"a key in the token header":        encode(`{"alg":"RS256","jwk":{"kty":"oct","k":"AA"},"kid":"../../dev/null"}`) + "." + parts[1] + "." + parts[2],
		"not a token":                      "system:masters",
		"a token of 64 KiB":                strings.Repeat("A", 64<<10),
	} {
		if status := statusFor(t, server, http.Header{"Authorization": {"Bearer " + forged}}); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status := statusFor(t, server, http.Header{"Authorization": {"Bearer " + token}}); status != http.StatusForbidden {
		t.Errorf("the valid token: %d", status)
	}
	for name, header := range map[string]http.Header{
		"headers of a front proxy": {"X-Remote-User": {"root"}, "X-Remote-Group": {"system:masters"}},
		"basic authentication":     {"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("system:admin:admin"))}},
		"impersonation":            {"Impersonate-User": {"root"}, "Impersonate-Group": {"system:masters"}},
	} {
		if status := statusFor(t, server, header); status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
}

// signer is a certificate with its key, which can sign others.
type signer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	chain       tls.Certificate
}

// sign issues a certificate from a template that change may modify. With a nil receiver the
// certificate is self-signed.
func (s *signer) sign(t *testing.T, change func(*x509.Certificate)) *signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "root", Organization: []string{"system:masters"}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	parent, parentKey := template, key
	if s != nil {
		parent, parentKey = s.certificate, s.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	check(t, err)
	issued := &signer{key: key, chain: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}}
	issued.certificate, err = x509.ParseCertificate(der)
	check(t, err)
	if s != nil {
		issued.chain.Certificate = append(issued.chain.Certificate, s.chain.Certificate...)
	}
	return issued
}

func authority(c *x509.Certificate) {
	c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
}

func TestForgedCertificatesAreRejected(t *testing.T) {
	trusted := (*signer)(nil).sign(t, authority)
	file := filepath.Join(t.TempDir(), "ca.crt")
	check(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: trusted.certificate.Raw}), 0o600))
	server := secureServer(t, func(c *miniapi.Config) { c.Secure.ClientCAFile = file })
	other, err := secureServer(t, nil).AddUser("root", "system:masters")
	check(t, err)
	ofOtherServer, err := tls.X509KeyPair(other.CertData, other.KeyData)
	check(t, err)

	user := trusted.sign(t, nil)
	if status := statusFor(t, server, http.Header{}, user.chain); status != http.StatusOK {
		t.Fatalf("a certificate of the trusted CA: %d", status)
	}
	untrusted := (*signer)(nil).sign(t, authority)
	for name, certificate := range map[string]tls.Certificate{
		"self-signed":        (*signer)(nil).sign(t, nil).chain,
		"of an untrusted CA": untrusted.sign(t, nil).chain,
		"of an untrusted CA with the key id of the trusted one": untrusted.sign(t, func(c *x509.Certificate) { c.AuthorityKeyId = trusted.certificate.SubjectKeyId }).chain,
		"of another server":                  ofOtherServer,
		"signed by a client certificate":     user.sign(t, nil).chain,
		"expired":                            trusted.sign(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }).chain,
		"not yet valid":                      trusted.sign(t, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(30 * time.Minute) }).chain,
		"for server authentication":          trusted.sign(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }).chain,
		"of a CA below a client certificate": user.sign(t, authority).chain,
		"followed by a valid one":            followed(untrusted.sign(t, nil).chain, user.chain),
		"with an unknown critical extension": trusted.sign(t, func(c *x509.Certificate) {
			c.ExtraExtensions = []pkix.Extension{{Id: []int{1, 2, 3, 4}, Critical: true}}
		}).chain,
	} {
		if status := statusFor(t, server, http.Header{}, certificate); status != http.StatusUnauthorized {
			t.Errorf("certificate %s: %d", name, status)
		}
	}
	if status := statusFor(t, server, http.Header{}); status != http.StatusForbidden {
		t.Errorf("no certificate: %d", status)
	}
}

// followed returns a certificate with others appended to its chain.
func followed(c, others tls.Certificate) tls.Certificate {
	c.Certificate = append(c.Certificate[:1:1], others.Certificate...)
	return c
}
