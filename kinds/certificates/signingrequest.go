package certificates

import (
	"context"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

const signerField = "spec.signerName"

func signingRequests() *registry.Resource {
	return kind.Definition{
		GroupVersion: certificatesv1.SchemeGroupVersion,
		Object:       &certificatesv1.CertificateSigningRequest{},
		List:         &certificatesv1.CertificateSigningRequestList{},
		Resource:     "certificatesigningrequests",
		Finalizers:   kind.Finalizers,
		ShortNames:   []string{"csr"},
		Status:       true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				ValidateName: path.ValidatePathSegmentName,
				Prepare:      recordRequestor,
				Validate:     kind.CheckCreate(validateRequest),
			},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Prepare:            keepSpec,
				Owns:               kind.Except("spec", "status"),
			},
		},
		StatusStrategy: registry.UpdateStrategy{
			Prepare:  prepareStatus,
			Validate: validateStatusUpdate,
			Owns:     kind.Except("spec", "status.conditions"),
		},
		FieldLabel: kind.FieldLabels("metadata.name", signerField),
		Fields:     signingRequestFields,
		Columns:    registry.Columns{Definitions: signingRequestColumns(), Row: kind.Row(signingRequestRow)},
		Subresources: []registry.Subresource{
			kind.WriteSubresource("approval", registry.UpdateStrategy{
				AllowUnconditional: true,
				Prepare:            prepareApproval,
				Validate:           validateApprovalUpdate,
				Owns:               kind.Except("spec", "status.certificate"),
			}),
		},
	}.Build()
}

// recordRequestor writes down who asks, whatever the request says.
func recordRequestor(ctx context.Context, obj runtime.Object) {
	spec := &obj.(*certificatesv1.CertificateSigningRequest).Spec
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

// keepSpec makes a request immutable: what was approved is what was asked for.
func keepSpec(_ context.Context, obj, old runtime.Object) {
	obj.(*certificatesv1.CertificateSigningRequest).Spec = old.(*certificatesv1.CertificateSigningRequest).Spec
}

func signingRequestFields(obj runtime.Object) fields.Set {
	return fields.Set{signerField: obj.(*certificatesv1.CertificateSigningRequest).Spec.SignerName}
}

func signingRequestColumns() []metav1.TableColumnDefinition {
	// The descriptions of kube-apiserver's columns are still those of v1beta1.
	doc := certificatesv1beta1.CertificateSigningRequestSpec{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.AgeColumn(),
		kind.Column("SignerName", "string", doc["signerName"]),
		kind.Column("Requestor", "string", doc["request"]),
		kind.Column("RequestedDuration", "string", doc["expirationSeconds"]),
		kind.Column("Condition", "string", certificatesv1beta1.CertificateSigningRequestStatus{}.SwaggerDoc()["conditions"]),
	}
}

func signingRequestRow(csr *certificatesv1.CertificateSigningRequest) []any {
	signer := "<none>"
	if csr.Spec.SignerName != "" {
		signer = csr.Spec.SignerName
	}
	requested := "<none>"
	if csr.Spec.ExpirationSeconds != nil {
		requested = duration.HumanDuration(time.Duration(*csr.Spec.ExpirationSeconds) * time.Second)
	}
	return []any{
		csr.Name,
		kind.Age(csr.CreationTimestamp),
		signer,
		csr.Spec.Username,
		requested,
		conditionCell(csr),
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
