package authn

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/apis/asn1"
)

// Certificates authenticates client certificates that a CA of the present pool has signed. The
// common name is the user, each organization is a group, and the subject may contain the UID. The
// listener must request client certificates and need not verify them.
func Certificates(roots func() *x509.CertPool) Authenticator {
	return func(r *http.Request) (*authenticationv1.UserInfo, bool, error) {
		if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
			return nil, false, nil
		}
		leaf := r.TLS.PeerCertificates[0]
		intermediates := x509.NewCertPool()
		for _, certificate := range r.TLS.PeerCertificates[1:] {
			intermediates.AddCert(certificate)
		}
		_, err := leaf.Verify(x509.VerifyOptions{
			Roots:         roots(),
			Intermediates: intermediates,
			KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		})
		if err != nil {
			return nil, false, fmt.Errorf("verifying certificate of %q (serial %s): %w", leaf.Subject.CommonName, leaf.SerialNumber, err)
		}
		if leaf.Subject.CommonName == "" {
			return nil, false, nil
		}
		uid, err := uidOf(leaf)
		if err != nil {
			return nil, false, err
		}
		fingerprint := sha256.Sum256(leaf.Raw)
		return &authenticationv1.UserInfo{
			Username: leaf.Subject.CommonName,
			UID:      uid,
			Groups:   leaf.Subject.Organization,
			Extra: map[string]authenticationv1.ExtraValue{
				credentialIDExtra: {"X509SHA256=" + hex.EncodeToString(fingerprint[:])},
			},
		}, true, nil
	}
}

// uidOf returns the UID in the subject of a certificate, "" if there is none.
func uidOf(certificate *x509.Certificate) (string, error) {
	var uids []string
	for _, name := range certificate.Subject.Names {
		if !name.Type.Equal(asn1.X509UID()) {
			continue
		}
		uid, ok := name.Value.(string)
		if !ok {
			return "", errors.New("unable to parse UID into a string")
		}
		uids = append(uids, uid)
	}
	switch {
	case len(uids) == 0:
		return "", nil
	case len(uids) > 1:
		return "", fmt.Errorf("expected 1 UID, but found multiple: %v", uids)
	case uids[0] == "":
		return "", errors.New("UID cannot be an empty string")
	default:
		return uids[0], nil
	}
}
