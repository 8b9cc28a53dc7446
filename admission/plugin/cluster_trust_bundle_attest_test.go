package plugin_test

import (
	"context"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry"
)

// allowed allows one verb on one signer.
type allowed struct {
	registry.Authorizer
	verb, signer string
}

func (a allowed) Authorize(_ context.Context, access registry.Access) (registry.Decision, error) {
	r := access.Resource
	return registry.Decision{Allowed: r.Resource == "signers" && r.Verb == a.verb && r.Name == a.signer}, nil
}

func TestClusterTrustBundleAttest(t *testing.T) {
	bundle := func(signer string, finalizers ...string) *certificatesv1.ClusterTrustBundle {
		return &certificatesv1.ClusterTrustBundle{
			ObjectMeta: metav1.ObjectMeta{Name: "b", Finalizers: finalizers},
			Spec:       certificatesv1.ClusterTrustBundleSpec{SignerName: signer, TrustBundle: "x"},
		}
	}
	changed := bundle("example.com/s")
	changed.Spec.TrustBundle = "y"
	const denied = `clustertrustbundles.certificates.k8s.io "b" is forbidden: user not permitted to attest for signerName "example.com/s"`
	for _, tc := range []struct {
		rule     string
		may      allowed
		obj, old *certificatesv1.ClusterTrustBundle // old is nil for a creation
		want     string
	}{
		{"a bundle without a signer needs no permission", allowed{}, bundle(""), nil, ""},
		{"a bundle of a signer does", allowed{}, bundle("example.com/s"), nil, denied},
		{"the permission for the signer", allowed{verb: "attest", signer: "example.com/s"}, bundle("example.com/s"), nil, ""},
		{"the permission for its domain", allowed{verb: "attest", signer: "example.com/*"}, bundle("example.com/s"), nil, ""},
		{"another permission", allowed{verb: "sign", signer: "example.com/s"}, bundle("example.com/s"), nil, denied},
		{"an update needs the permission", allowed{}, changed, bundle("example.com/s"), denied},
		{"changes of finalizers do not", allowed{}, bundle("example.com/s", "a.b/c"), bundle("example.com/s"), ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			ctx := registry.WithUser(t.Context(), &authenticationv1.UserInfo{Username: "jane"})
			a := &registry.Attributes{
				Catalog: registry.NewCatalog(registry.CatalogConfig{Authorizer: tc.may}), Operation: registry.OperationCreate,
				Resource: &registry.Resource{Group: certificatesv1.GroupName, Name: "clustertrustbundles"}, Name: "b", Object: tc.obj,
			}
			if tc.old != nil {
				a.Operation, a.OldObject = registry.OperationUpdate, tc.old
			}
			if got := text(plugin.ClusterTrustBundleAttest().Validate(ctx, a)); got != tc.want {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}
