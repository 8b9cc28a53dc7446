package certificates

import (
	"context"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
)

// prepareStatus restores the approval conditions, unless their number changes: validation rejects
// that.
func prepareStatus(ctx context.Context, csr, old *certificatesv1.CertificateSigningRequest) {
	keepConditions(csr, old, certificatesv1.CertificateApproved)
	keepConditions(csr, old, certificatesv1.CertificateDenied)
	stampConditions(ctx, csr, old)
}

// prepareApproval restores everything but the conditions.
func prepareApproval(ctx context.Context, csr, old *certificatesv1.CertificateSigningRequest) {
	csr.Spec = old.Spec
	csr.Status.Certificate = old.Status.Certificate
	stampConditions(ctx, csr, old)
}

func keepConditions(csr, old *certificatesv1.CertificateSigningRequest, kind certificatesv1.RequestConditionType) {
	kept := conditionsOf(old, kind)
	if len(kept) != len(conditionsOf(csr, kind)) {
		return
	}
	next := 0
	for i := range csr.Status.Conditions {
		if csr.Status.Conditions[i].Type == kind {
			csr.Status.Conditions[i] = kept[next]
			next++
		}
	}
}

// stampConditions sets missing times of conditions. A condition whose status has not changed keeps
// its transition time.
func stampConditions(ctx context.Context, csr, old *certificatesv1.CertificateSigningRequest) {
	now := metav1.NewTime(registry.Now(ctx))
	for i := range csr.Status.Conditions {
		condition := &csr.Status.Conditions[i]
		if condition.LastUpdateTime.IsZero() {
			condition.LastUpdateTime = now
		}
		if condition.LastTransitionTime.IsZero() {
			condition.LastTransitionTime = transitionTime(old, *condition, now)
		}
	}
}

func transitionTime(old *certificatesv1.CertificateSigningRequest, condition certificatesv1.CertificateSigningRequestCondition, now metav1.Time) metav1.Time {
	for _, before := range conditionsOf(old, condition.Type) {
		if before.Status == condition.Status && !before.LastTransitionTime.IsZero() {
			return before.LastTransitionTime
		}
	}
	return now
}

func conditionsOf(csr *certificatesv1.CertificateSigningRequest, kind certificatesv1.RequestConditionType) []certificatesv1.CertificateSigningRequestCondition {
	var list []certificatesv1.CertificateSigningRequestCondition
	for _, condition := range csr.Status.Conditions {
		if condition.Type == kind {
			list = append(list, condition)
		}
	}
	return list
}
