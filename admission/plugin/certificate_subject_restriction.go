package plugin

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/miniapi/miniapi/registry"
)

const (
	mastersGroup = "system:masters"
	clientSigner = certificatesv1.KubeAPIServerClientSignerName
)

// CertificateSubjectRestriction rejects requests for client certificates of the group
// system:masters, whose permissions cannot be revoked.
func CertificateSubjectRestriction() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "CertificateSubjectRestriction", Validate: checkSubject}
}

func checkSubject(_ context.Context, a *registry.Attributes) error {
	request, ok := created[*certificatesv1.CertificateSigningRequest](a)
	if !ok || request.Spec.SignerName != clientSigner {
		return nil
	}
	parsed, err := parseRequest(request.Spec.Request)
	if err != nil {
		return forbidden(a, fmt.Errorf("failed to parse CSR: %v", err))
	}
	if slices.Contains(parsed.Subject.Organization, mastersGroup) {
		return forbidden(a, fmt.Errorf("use of %s signer with system:masters group is not allowed", clientSigner))
	}
	return nil
}

func parseRequest(text []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}
