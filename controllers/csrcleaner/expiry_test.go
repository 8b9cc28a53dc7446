package csrcleaner

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestExpiry(t *testing.T) {
	created := time.Unix(1_700_000_000, 0)
	decided := created.Add(2 * time.Hour)
	short, long := certificate(t, decided.Add(time.Minute)), certificate(t, decided.Add(24*time.Hour))
	for rule, c := range map[string]struct {
		condition   certificatesv1.RequestConditionType // "" is none
		certificate []byte
		want        time.Time
	}{
		"pending: a day after its creation":                        {want: created.Add(24 * time.Hour)},
		"approved without a certificate: a day after the approval": {certificatesv1.CertificateApproved, nil, decided.Add(24 * time.Hour)},
		"issued: an hour after the approval":                       {certificatesv1.CertificateApproved, long, decided.Add(time.Hour)},
		"issued for a minute: at the end of the certificate":       {certificatesv1.CertificateApproved, short, decided.Add(time.Minute)},
		"a certificate that is none":                               {certificatesv1.CertificateApproved, []byte("x"), decided.Add(time.Hour)},
		"denied: an hour after the denial":                         {certificatesv1.CertificateDenied, nil, decided.Add(time.Hour)},
		"failed: an hour after the failure":                        {certificatesv1.CertificateFailed, nil, decided.Add(time.Hour)},
	} {
		request := &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(created)}}
		request.Status.Certificate = c.certificate
		if c.condition != "" {
			request.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: c.condition, LastUpdateTime: metav1.NewTime(decided)}}
		}
		if got := expiry(request); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", rule, got, c.want)
		}
	}
}

func certificate(t *testing.T, notAfter time.Time) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: notAfter}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
