package certificates

import (
	"cmp"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func clusterTrustBundles(features *feature.Set) *registry.Resource {
	return kind.Definition[*certificatesv1.ClusterTrustBundle]{
		GroupVersion:   certificatesv1.SchemeGroupVersion,
		StorageVersion: "v1beta1",
		Object:         &certificatesv1.ClusterTrustBundle{},
		List:           &certificatesv1.ClusterTrustBundleList{},
		Resource:       "clustertrustbundles",
		Gate:           feature.ClusterTrustBundle,
		ValidateName:   path.ValidatePathSegmentName, // validateBundle has the other rules
		ValidateCreate: validateBundle,
		ValidateUpdate: validateBundleUpdate,
		FieldLabel:     kind.FieldLabels("metadata.name", signerField),
		Fields: func(bundle *certificatesv1.ClusterTrustBundle) fields.Set {
			return fields.Set{signerField: bundle.Spec.SignerName}
		},
		Columns: []kind.Column[*certificatesv1.ClusterTrustBundle]{
			kind.NameColumn[*certificatesv1.ClusterTrustBundle](),
			kind.TextColumn("SignerName", certificatesv1.ClusterTrustBundleSpec{}.SwaggerDoc()["signerName"],
				func(bundle *certificatesv1.ClusterTrustBundle) any { return cmp.Or(bundle.Spec.SignerName, kind.None) }),
		},
	}.Build(features)
}
