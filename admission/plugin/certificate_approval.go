package plugin

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
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
	if !ok || isAuthorizedForSigner(ctx, a, "approve", old.Spec.SignerName) {
		return nil
	}
	return forbidden(a, fmt.Errorf("user not permitted to approve requests with signerName %q", old.Spec.SignerName))
}

// isAuthorizedForSigner reports whether the user has a verb on a signer or on all signers of its
// domain. As in kube-apiserver, an error of the authorizer counts as a denial.
func isAuthorizedForSigner(ctx context.Context, a *registry.Attributes, verb, signer string) bool {
	user := registry.UserFrom(ctx)
	if user == nil {
		return true
	}
	domain, _, _ := strings.Cut(signer, "/")
	for _, name := range []string{signer, domain + "/*"} {
		decision, err := a.Catalog.Authorizer().Authorize(ctx, registry.Access{User: user, Resource: &authorizationv1.ResourceAttributes{
			Verb: verb, Group: certificatesv1.GroupName, Version: "*", Resource: "signers", Name: name,
		}})
		if err == nil && decision.Allowed {
			return true
		}
	}
	return false
}
