package plugin

import (
	"bytes"
	"context"
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/miniapi/miniapi/registry"
)

// CertificateSigning rejects a change of the certificate or the conditions of a certificate
// signing request unless the user may sign for its signer.
func CertificateSigning() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "CertificateSigning", Validate: checkSigning}
}

func checkSigning(ctx context.Context, a *registry.Attributes) error {
	request, old, ok := updatedBy[*certificatesv1.CertificateSigningRequest](a, "status")
	if !ok || sameOutcome(&request.Status, &old.Status) ||
		registry.IsAuthorizedForSigner(ctx, a.Catalog.Authorizer(), "sign", old.Spec.SignerName) {
		return nil
	}
	return forbidden(a, fmt.Errorf("user not permitted to sign requests with signerName %q", old.Spec.SignerName))
}

func sameOutcome(status, old *certificatesv1.CertificateSigningRequestStatus) bool {
	return bytes.Equal(status.Certificate, old.Certificate) && equality.Semantic.DeepEqual(status.Conditions, old.Conditions)
}
