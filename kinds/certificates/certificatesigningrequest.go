package certificates

import (
	"cmp"
	"context"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

const signerField = "spec.signerName"

func signingRequests(features *feature.Set) *registry.Resource {
	return kind.Definition[*certificatesv1.CertificateSigningRequest]{
		GroupVersion:             certificatesv1.SchemeGroupVersion,
		Object:                   &certificatesv1.CertificateSigningRequest{},
		List:                     &certificatesv1.CertificateSigningRequestList{},
		Resource:                 "certificatesigningrequests",
		ShortNames:               []string{"csr"},
		Status:                   true,
		ValidateName:             path.ValidatePathSegmentName,
		PrepareForCreate:         recordRequestor,
		ValidateCreate:           validateRequest,
		AllowUnconditionalUpdate: true,
		PrepareForUpdate:         keepSpec,
		Owns:                     kind.Except("spec", "status"),
		PrepareForStatusUpdate:   prepareStatus,
		ValidateStatusUpdate:     validateStatusUpdate,
		StatusOwns:               kind.Except("spec", "status.conditions"),
		FieldLabel:               kind.FieldLabels("metadata.name", signerField),
		Fields:                   signingRequestFields,
		Columns:                  signingRequestColumns(),
		Subresources: []registry.Subresource{
			kind.Write[*certificatesv1.CertificateSigningRequest]{
				AllowUnconditional: true,
				Prepare:            prepareApproval,
				Validate:           validateApprovalUpdate,
				Owns:               kind.Except("spec", "status.certificate"),
			}.Subresource("approval"),
		},
	}.Build(features)
}

// recordRequestor sets the user of the request, and overwrites what the client sent.
func recordRequestor(ctx context.Context, csr *certificatesv1.CertificateSigningRequest) {
	spec := &csr.Spec
	spec.Username, spec.UID, spec.Groups, spec.Extra = "", "", nil, nil
	user := registry.UserFrom(ctx)
	if user == nil {
		return
	}
	spec.Username, spec.UID, spec.Groups = user.Username, user.UID, user.Groups
	for key, values := range user.Extra {
		if spec.Extra == nil {
			spec.Extra = map[string]certificatesv1.ExtraValue{}
		}
		spec.Extra[key] = certificatesv1.ExtraValue(values)
	}
}

// keepSpec restores the spec, which is immutable.
func keepSpec(_ context.Context, csr, old *certificatesv1.CertificateSigningRequest) {
	csr.Spec = old.Spec
}

func signingRequestFields(csr *certificatesv1.CertificateSigningRequest) fields.Set {
	return fields.Set{signerField: csr.Spec.SignerName}
}

func signingRequestColumns() []kind.Column[*certificatesv1.CertificateSigningRequest] {
	// kube-apiserver describes the columns with the texts of v1beta1.
	doc := certificatesv1beta1.CertificateSigningRequestSpec{}.SwaggerDoc()
	return []kind.Column[*certificatesv1.CertificateSigningRequest]{
		kind.NameColumn[*certificatesv1.CertificateSigningRequest](),
		kind.AgeColumn[*certificatesv1.CertificateSigningRequest](),
		kind.TextColumn("SignerName", doc["signerName"],
			func(csr *certificatesv1.CertificateSigningRequest) any { return cmp.Or(csr.Spec.SignerName, kind.None) }),
		kind.TextColumn("Requestor", doc["request"],
			func(csr *certificatesv1.CertificateSigningRequest) any { return csr.Spec.Username }),
		kind.TextColumn("RequestedDuration", doc["expirationSeconds"], func(csr *certificatesv1.CertificateSigningRequest) any {
			return requestedDuration(csr.Spec.ExpirationSeconds)
		}),
		kind.TextColumn("Condition", certificatesv1beta1.CertificateSigningRequestStatus{}.SwaggerDoc()["conditions"],
			func(csr *certificatesv1.CertificateSigningRequest) any { return conditionCell(csr) }),
	}
}

func conditionCell(csr *certificatesv1.CertificateSigningRequest) string {
	cell := "Pending"
	switch {
	case len(conditionsOf(csr, certificatesv1.CertificateDenied)) > 0:
		cell = "Denied"
	case len(conditionsOf(csr, certificatesv1.CertificateApproved)) > 0:
		cell = "Approved"
	}
	if len(conditionsOf(csr, certificatesv1.CertificateFailed)) > 0 {
		cell += ",Failed"
	}
	if len(csr.Status.Certificate) > 0 {
		cell += ",Issued"
	}
	return cell
}

func requestedDuration(seconds *int32) string {
	if seconds == nil {
		return kind.None
	}
	return duration.HumanDuration(time.Duration(*seconds) * time.Second)
}
