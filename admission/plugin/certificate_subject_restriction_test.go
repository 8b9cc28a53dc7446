package plugin_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
)

// newRequest returns a request to a signer for a client certificate of jane with groups.
func newRequest(t *testing.T, signer string, groups ...string) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	subject := pkix.Name{CommonName: "jane", Organization: groups}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key)
	if err != nil {
		t.Fatal(err)
	}
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "r"},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			SignerName: signer, Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
			Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}),
		},
	}
}

func TestCertificateSubjectRestriction(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	const masters = `certificatesigningrequests.certificates.k8s.io "r" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed`
	for _, tc := range []struct {
		rule, signer string
		groups       []string
		want         string
	}{
		{"the group system:masters is rejected", "kubernetes.io/kube-apiserver-client", []string{"devs", "system:masters"}, masters},
		{"other groups are allowed", "kubernetes.io/kube-apiserver-client", []string{"devs"}, ""},
		{"other signers are not restricted", "acme.io/clients", []string{"system:masters"}, ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t)}
			_, failure := e.tryWith("certificatesigningrequests.certificates.k8s.io", newRequest(t, tc.signer, tc.groups...), dry())
			if failure != tc.want {
				t.Errorf("got %q\nwant %q", failure, tc.want)
			}
		})
	}
}
