package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/miniapi/miniapi/registry/registrytest"
)

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newRequest(t *testing.T) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, newKey(t))
	if err != nil {
		t.Fatal(err)
	}
	csr := &certificatesv1.CertificateSigningRequest{}
	csr.Name = "r"
	csr.Spec.Request = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	csr.Spec.SignerName = "example.com/s"
	csr.Spec.Usages = []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth}
	return csr
}

func newCertificate(t *testing.T) []byte {
	t.Helper()
	key, template := newKey(t), &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestRequests(t *testing.T) {
	const signer = `spec.signerName: Invalid value: `
	for _, tc := range []struct {
		rule   string
		change func(*certificatesv1.CertificateSigningRequestSpec)
		want   []string
	}{
		{"a request with a signer and a usage", func(*certificatesv1.CertificateSigningRequestSpec) {}, nil},
		{"the request is PEM", func(s *certificatesv1.CertificateSigningRequestSpec) { s.Request = []byte("x") },
			[]string{`spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST`}},
		{"a usage is required", func(s *certificatesv1.CertificateSigningRequestSpec) { s.Usages = nil }, []string{"spec.usages: Required value"}},
		{"usages are unique", func(s *certificatesv1.CertificateSigningRequestSpec) { s.Usages = append(s.Usages, s.Usages[0]) },
			[]string{`spec.usages[1]: Duplicate value: "client auth"`}},
		{"the signer has a domain", func(s *certificatesv1.CertificateSigningRequestSpec) { s.SignerName = "me" },
			[]string{signer + `"me": must be a fully qualified domain and path of the form 'example.com/signer-name'`}},
		{"the domain of the signer has two labels", func(s *certificatesv1.CertificateSigningRequestSpec) { s.SignerName = "org/me" },
			[]string{signer + `"org": should be a domain with at least two segments separated by dots`}},
		{"the legacy signer is rejected", func(s *certificatesv1.CertificateSigningRequestSpec) { s.SignerName = legacySigner },
			[]string{signer + `"kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version`}},
		{"the expiration is at least ten minutes", func(s *certificatesv1.CertificateSigningRequestSpec) { s.ExpirationSeconds = new(int32(599)) },
			[]string{"spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			csr := newRequest(t)
			tc.change(&csr.Spec)
			if diff := cmp.Diff(tc.want, registrytest.Texts(validateRequest(csr))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCertificatesAreInPEM(t *testing.T) {
	issued := newCertificate(t)
	for _, tc := range []struct {
		rule string
		data []byte
		want string
	}{
		{"no certificate", nil, ""},
		{"several certificates", append(issued, issued...), ""},
		{"text is not a certificate", []byte("x"), "must contain at least one CERTIFICATE PEM block"},
		{"a request is not a certificate", newRequest(t).Spec.Request, `only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"`},
	} {
		var got string
		if errs := validateCertificate(tc.data); len(errs) > 0 {
			got = errs[0].Detail
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.rule, got, tc.want)
		}
	}
}
