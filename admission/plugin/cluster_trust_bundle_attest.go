package plugin

import (
	"context"
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/miniapi/miniapi/registry"
)

// ClusterTrustBundleAttest rejects writes of a ClusterTrustBundle unless the user may attest for
// its signer. Bundles without a signer, and updates that change nothing but owner references and
// finalizers, need no permission.
func ClusterTrustBundleAttest() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "ClusterTrustBundleAttest", Validate: checkAttest}
}

func checkAttest(ctx context.Context, a *registry.Attributes) error {
	if a.Operation != registry.OperationCreate && a.Operation != registry.OperationUpdate {
		return nil
	}
	bundle, ok := a.Object.(*certificatesv1.ClusterTrustBundle)
	if !ok || bundle.Spec.SignerName == "" {
		return nil
	}
	if old, ok := a.OldObject.(*certificatesv1.ClusterTrustBundle); ok && equalButForOwners(bundle, old) {
		return nil
	}
	if registry.IsAuthorizedForSigner(ctx, a.Catalog.Authorizer(), "attest", bundle.Spec.SignerName) {
		return nil
	}
	return forbidden(a, fmt.Errorf("user not permitted to attest for signerName %q", bundle.Spec.SignerName))
}

func equalButForOwners(bundle, old *certificatesv1.ClusterTrustBundle) bool {
	bundle = bundle.DeepCopy()
	bundle.OwnerReferences, bundle.Finalizers, bundle.ManagedFields = old.OwnerReferences, old.Finalizers, old.ManagedFields
	return equality.Semantic.DeepEqual(bundle, old)
}
