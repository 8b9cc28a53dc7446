package authn

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// Certificates authenticates client certificates that a CA of the pool has signed. The common name
// is the user, each organization is a group. The listener must request client certificates and need
// not verify them.
func Certificates(roots *x509.CertPool) Authenticator {
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
			Roots:         roots,
			Intermediates: intermediates,
			KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		})
		if err != nil {
			return nil, false, fmt.Errorf("verifying certificate of %q (serial %s): %w", leaf.Subject.CommonName, leaf.SerialNumber, err)
		}
		if leaf.Subject.CommonName == "" {
			return nil, false, nil
		}
		fingerprint := sha256.Sum256(leaf.Raw)
		return &authenticationv1.UserInfo{
			Username: leaf.Subject.CommonName,
			Groups:   leaf.Subject.Organization,
			Extra: map[string]authenticationv1.ExtraValue{
				credentialIDExtra: {"X509SHA256=" + hex.EncodeToString(fingerprint[:])},
			},
		}, true, nil
	}
}
