package certificates

import (
	"context"
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// The selectable fields of PodCertificateRequests, in addition to signerField.
const (
	podField  = "spec.podName"
	nodeField = "spec.nodeName"
)

func podCertificateRequests(features *feature.Set) *registry.Resource {
	return kind.Definition[*certificatesv1.PodCertificateRequest]{
		GroupVersion:         certificatesv1.SchemeGroupVersion,
		StorageVersion:       "v1beta1",
		Object:               &certificatesv1.PodCertificateRequest{},
		List:                 &certificatesv1.PodCertificateRequestList{},
		Resource:             "podcertificaterequests",
		Namespaced:           true,
		Gate:                 feature.PodCertificateRequest,
		ValidateCreate:       validatePodRequest,
		ValidateUpdate:       validatePodRequestUpdate,
		Status:               true,
		StatusKeepsMetadata:  true,
		ValidateStatusUpdate: validatePodRequestStatus,
		FieldLabel:           kind.FieldLabels("metadata.name", signerField, podField, nodeField),
		Fields: func(r *certificatesv1.PodCertificateRequest) fields.Set {
			return fields.Set{signerField: r.Spec.SignerName, podField: r.Spec.PodName, nodeField: string(r.Spec.NodeName)}
		},
		Columns: podRequestColumns(),
	}.Build(features)
}

func podRequestColumns() []kind.Column[*certificatesv1.PodCertificateRequest] {
	doc := certificatesv1.PodCertificateRequestSpec{}.SwaggerDoc()
	return []kind.Column[*certificatesv1.PodCertificateRequest]{
		kind.NameColumn[*certificatesv1.PodCertificateRequest](),
		kind.TextColumn("PodName", doc["podName"],
			func(r *certificatesv1.PodCertificateRequest) any { return r.Spec.PodName }),
		kind.TextColumn("ServiceAccountName", doc["serviceAccountName"],
			func(r *certificatesv1.PodCertificateRequest) any { return r.Spec.ServiceAccountName }),
		kind.TextColumn("NodeName", doc["nodeName"],
			func(r *certificatesv1.PodCertificateRequest) any { return string(r.Spec.NodeName) }),
		kind.TextColumn("SignerName", doc["signerName"],
			func(r *certificatesv1.PodCertificateRequest) any { return r.Spec.SignerName }),
		kind.TextColumn("State", "Is the request Pending, Issued, Denied, or Failed?",
			func(r *certificatesv1.PodCertificateRequest) any { return podRequestState(r) }),
		kind.TextColumn("UnverifiedUserAnnotations", doc["unverifiedUserAnnotations"],
			func(r *certificatesv1.PodCertificateRequest) any {
				return labels.FormatLabels(r.Spec.UnverifiedUserAnnotations)
			}),
	}
}

// podRequestState returns the type of the last known condition, or Pending.
func podRequestState(r *certificatesv1.PodCertificateRequest) string {
	state := "Pending"
	for _, c := range r.Status.Conditions {
		if isFinalCondition(c.Type) {
			state = c.Type
		}
	}
	return state
}

// Hooks returns the hook of PodCertificateRequests, which authorizes writes of the status.
func Hooks() map[schema.GroupResource]registry.Hooks {
	return map[schema.GroupResource]registry.Hooks{
		certificatesv1.Resource("podcertificaterequests"): {Validate: authorizePodRequestStatus},
	}
}

// authorizePodRequestStatus requires the permission to sign for the signer of the request.
func authorizePodRequestStatus(ctx context.Context, v registry.Validation, errs field.ErrorList) field.ErrorList {
	if v.Subresource != "status" || len(errs) > 0 {
		return errs
	}
	request, old := v.Obj.(*certificatesv1.PodCertificateRequest), v.Old.(*certificatesv1.PodCertificateRequest)
	signer := old.Spec.SignerName
	if equality.Semantic.DeepEqual(request.Status, old.Status) ||
		registry.IsAuthorizedForSigner(ctx, v.Catalog.Authorizer(), "sign", signer) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "signerName"),
		fmt.Sprintf(`User %q is not permitted to "sign" for signer %q`, registry.UserFrom(ctx).Username, signer))}
}
