package plugin

import (
	"context"
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/miniapi/miniapi/registry"
)

// CertificateApproval rejects the approval or denial of a certificate signing request unless the
// user may approve requests for its signer.
func CertificateApproval() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "CertificateApproval", Validate: checkApproval}
}

func checkApproval(ctx context.Context, a *registry.Attributes) error {
	_, old, ok := updatedBy[*certificatesv1.CertificateSigningRequest](a, "approval")
	if !ok || registry.IsAuthorizedForSigner(ctx, a.Catalog.Authorizer(), "approve", old.Spec.SignerName) {
		return nil
	}
	return forbidden(a, fmt.Errorf("user not permitted to approve requests with signerName %q", old.Spec.SignerName))
}
