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
)

// knock lists secrets with some credentials and returns the status.
func knock(t *testing.T, server *miniapi.Server, header http.Header, certificates ...tls.Certificate) int {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(server.RESTConfig().CAData)
	// Whatever authorities the server names, the certificate is shown.
	show := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if len(certificates) == 0 {
			return &tls.Certificate{}, nil
		}
		return &certificates[0], nil
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, GetClientCertificate: show}}
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
	accounts := clientFor(t, server.RESTConfig()).CoreV1().ServiceAccounts("kube-system")
	account, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{GenerateName: "admin-"}}, metav1.CreateOptions{})
	check(t, err)
	token, err := accounts.CreateToken(t.Context(), account.Name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}, metav1.CreateOptions{})
	check(t, err)
	return token.Status.Token
}

func TestForgedTokensAreRefused(t *testing.T) {
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
		"no algorithm":                         encode(`{"alg":"none"}`) + "." + parts[1] + ".",
		"no algorithm, and the signature":      encode(`{"alg":"none"}`) + "." + parts[1] + "." + parts[2],
		"a symmetric key that is public":       encode(`{"alg":"HS256"}`) + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)),
		"another subject":                      parts[0] + "." + masters + "." + parts[2],
		"no signature":                         parts[0] + "." + parts[1] + ".",
		"half a signature":                     token[:len(token)-20],
		"something behind it":                  token + "A.A",
		"the key of another server":            accountToken(t, other),
		"another audience":                     accountToken(t, server, "vault"),
		"a key that the token brings with it":  encode(`{"alg":"RS256","jwk":{"kty":"oct","k":"AA"},"kid":"../../dev/null"}`) + "." + parts[1] + "." + parts[2],
		"no token":                             "system:masters",
		"a token that is longer than a header": strings.Repeat("A", 64<<10),
	} {
		if status := knock(t, server, http.Header{"Authorization": {"Bearer " + forged}}); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status := knock(t, server, http.Header{"Authorization": {"Bearer " + token}}); status != http.StatusForbidden {
		t.Errorf("the token itself: %d", status)
	}
	for name, header := range map[string]http.Header{
		"headers of a front proxy": {"X-Remote-User": {"root"}, "X-Remote-Group": {"system:masters"}},
		"a name and a password":    {"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("system:admin:admin"))}},
		"impersonation":            {"Impersonate-User": {"root"}, "Impersonate-Group": {"system:masters"}},
	} {
		if status := knock(t, server, header); status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
}

// signer makes certificates.
type signer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	chain       tls.Certificate
}

// sign returns a certificate that change has changed, and its key. A nil signer signs itself.
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
	made := &signer{key: key, chain: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}}
	made.certificate, err = x509.ParseCertificate(der)
	check(t, err)
	if s != nil {
		made.chain.Certificate = append(made.chain.Certificate, s.chain.Certificate...)
	}
	return made
}

func authority(c *x509.Certificate) {
	c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
}

func TestForgedCertificatesAreRefused(t *testing.T) {
	trusted := (*signer)(nil).sign(t, authority)
	file := filepath.Join(t.TempDir(), "ca.crt")
	check(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: trusted.certificate.Raw}), 0o600))
	server := secureServer(t, func(c *miniapi.Config) { c.Secure.ClientCAFile = file })
	own, err := secureServer(t, nil).AddUser("root", "system:masters")
	check(t, err)
	elsewhere, err := tls.X509KeyPair(own.CertData, own.KeyData)
	check(t, err)

	user := trusted.sign(t, nil)
	if status := knock(t, server, http.Header{}, user.chain); status != http.StatusOK {
		t.Fatalf("a certificate of the authority: %d", status)
	}
	stranger := (*signer)(nil).sign(t, authority)
	for name, certificate := range map[string]tls.Certificate{
		"signed by itself":                 (*signer)(nil).sign(t, nil).chain,
		"of an unknown authority":          stranger.sign(t, nil).chain,
		"of an authority of the same name": stranger.sign(t, func(c *x509.Certificate) { c.AuthorityKeyId = trusted.certificate.SubjectKeyId }).chain,
		"of another server":                elsewhere,
		"signed by a user":                 user.sign(t, nil).chain,
		"that is over":                     trusted.sign(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }).chain,
		"that has not begun":               trusted.sign(t, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }).chain,
		"for servers":                      trusted.sign(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }).chain,
		"of a user, with the name of none": user.sign(t, authority).chain,
		"followed by one that is in order": followed(stranger.sign(t, nil).chain, user.chain),
		"with an extension that is unknown": trusted.sign(t, func(c *x509.Certificate) {
			c.ExtraExtensions = []pkix.Extension{{Id: []int{1, 2, 3, 4}, Critical: true}}
		}).chain,
	} {
		if status := knock(t, server, http.Header{}, certificate); status != http.StatusUnauthorized {
			t.Errorf("a certificate %s: %d", name, status)
		}
	}
	if status := knock(t, server, http.Header{}); status != http.StatusForbidden {
		t.Errorf("no certificate: %d", status)
	}
}

// followed returns a certificate with others behind it.
func followed(c, others tls.Certificate) tls.Certificate {
	c.Certificate = append(c.Certificate[:1:1], others.Certificate...)
	return c
}
