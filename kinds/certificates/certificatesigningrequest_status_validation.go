package certificates

import (
	"bytes"
	"fmt"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateStatusUpdate(csr, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	errs := validateConditions(csr)
	errs = append(errs, validateConditionsKept(csr, old)...)
	errs = append(errs, validateNoNewApprovals(csr, old)...)
	if bytes.Equal(csr.Status.Certificate, old.Status.Certificate) {
		return errs
	}
	if len(validateCertificate(old.Status.Certificate)) == 0 {
		errs = append(errs, validateCertificate(csr.Status.Certificate)...)
	}
	if len(old.Status.Certificate) > 0 {
		errs = append(errs, field.Forbidden(field.NewPath("status", "certificate"),
			"updates may not modify existing certificate content"))
	}
	return errs
}

func validateApprovalUpdate(csr, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	return append(validateConditions(csr), validateConditionsKept(csr, old)...)
}

// validateConditionsKept rejects the removal of approval and failure conditions.
func validateConditionsKept(csr, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	var errs field.ErrorList
	for _, kind := range []certificatesv1.RequestConditionType{
		certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed,
	} {
		if len(conditionsOf(csr, kind)) < len(conditionsOf(old, kind)) {
			errs = append(errs, field.Forbidden(field.NewPath("status", "conditions"),
				fmt.Sprintf("updates may not remove a condition of type %q", kind)))
		}
	}
	return errs
}

// validateNoNewApprovals rejects approval conditions: they are written through the approval
// subresource, which requires a permission of its own.
func validateNoNewApprovals(csr, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	var errs field.ErrorList
	for _, kind := range []certificatesv1.RequestConditionType{
		certificatesv1.CertificateApproved, certificatesv1.CertificateDenied,
	} {
		if len(conditionsOf(csr, kind)) > len(conditionsOf(old, kind)) {
			errs = append(errs, field.Forbidden(field.NewPath("status", "conditions"),
				fmt.Sprintf("updates may not add a condition of type %q", kind)))
		}
	}
	return errs
}

func validateConditions(csr *certificatesv1.CertificateSigningRequest) field.ErrorList {
	var errs field.ErrorList
	seen := map[certificatesv1.RequestConditionType]bool{}
	all := field.NewPath("status", "conditions")
	for i, condition := range csr.Status.Conditions {
		path := all.Index(i)
		if condition.Type == "" {
			errs = append(errs, field.Required(path.Child("type"), ""))
		}
		errs = append(errs, validateConditionStatus(condition, path.Child("status"))...)
		if seen[condition.Type] {
			errs = append(errs, field.Duplicate(path.Child("type"), condition.Type))
		}
		seen[condition.Type] = true
	}
	if seen[certificatesv1.CertificateApproved] && seen[certificatesv1.CertificateDenied] {
		errs = append(errs, field.Invalid(all, `{conditions[{"type": "Approved"}], conditions[{"type": "Denied"}]}`,
			"must specify at most one of: `conditions[{\"type\": \"Approved\"}]`, `conditions[{\"type\": \"Denied\"}]`"))
	}
	return errs
}

// validateConditionStatus requires the status True for the condition types of this API.
func validateConditionStatus(condition certificatesv1.CertificateSigningRequestCondition, path *field.Path) field.ErrorList {
	allowed := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
	switch condition.Type {
	case certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed:
		allowed = []corev1.ConditionStatus{corev1.ConditionTrue}
	}
	if condition.Status == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	if slices.Contains(allowed, condition.Status) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, condition.Status, allowed)}
}
