package authn

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/asn1"
)

func TestUIDInCertificates(t *testing.T) {
	uid := func(value any) pkix.AttributeTypeAndValue {
		return pkix.AttributeTypeAndValue{Type: asn1.X509UID(), Value: value}
	}
	for name, tc := range map[string]struct {
		names []pkix.AttributeTypeAndValue
		want  string
		err   string
	}{
		"no UID":       {nil, "", ""},
		"a UID":        {[]pkix.AttributeTypeAndValue{uid("u1")}, "u1", ""},
		"an empty UID": {[]pkix.AttributeTypeAndValue{uid("")}, "", "UID cannot be an empty string"},
		"two UIDs":     {[]pkix.AttributeTypeAndValue{uid("u1"), uid("u2")}, "", "expected 1 UID, but found multiple: [u1 u2]"},
	} {
		t.Run(name, func(t *testing.T) {
			certificate := selfSigned(t, pkix.Name{CommonName: "jane", ExtraNames: tc.names})
			roots := x509.NewCertPool()
			roots.AddCert(certificate)
			r := request()
			r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate}}
			user, ok, err := Certificates(func() *x509.CertPool { return roots })(r)
			if tc.err != "" {
				if ok || err == nil || err.Error() != tc.err {
					t.Errorf("got  %v, %v\nwant %s", user, err, tc.err)
				}
				return
			}
			if !ok || err != nil || user.UID != tc.want {
				t.Errorf("got %v, %v, want the UID %q", user, err, tc.want)
			}
		})
	}
}

func TestUIDThatIsNoString(t *testing.T) {
	subject := pkix.Name{Names: []pkix.AttributeTypeAndValue{{Type: asn1.X509UID(), Value: 1}}}
	if uid, err := uidOf(&x509.Certificate{Subject: subject}); err == nil || err.Error() != "unable to parse UID into a string" {
		t.Errorf("got %q, %v", uid, err)
	}
}

// selfSigned returns a client certificate that is its own CA.
func selfSigned(t *testing.T, subject pkix.Name) *x509.Certificate {
	t.Helper()
	key := newECKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: subject, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}
