// Package csrcleaner deletes old CertificateSigningRequests, as kube-controller-manager's
// certificatesigningrequest-cleaner-controller does.
package csrcleaner

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/miniapi/miniapi/controllers/reconcile"
)

const (
	// pendingLifetime is the lifetime of requests without a decision or a certificate.
	pendingLifetime = 24 * time.Hour
	// decidedLifetime is the lifetime of requests after their certificate, denial or failure.
	decidedLifetime = time.Hour
)

// New returns the controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	requests := reconcile.Objects[*certificatesv1.CertificateSigningRequest]{
		Catalog: config.Catalog, Resource: certificatesv1.Resource("certificatesigningrequests"),
	}
	return reconcile.New(config, reconcile.Spec[*certificatesv1.CertificateSigningRequest]{
		Name:    "certificatesigningrequest-cleaner-controller",
		Account: "certificate-controller",
		Objects: requests,
		Reconcile: func(ctx context.Context, request *certificatesv1.CertificateSigningRequest) (time.Duration, error) {
			if left := config.Clock.Until(expiry(request)); left > 0 {
				return left, nil
			}
			return 0, requests.Delete(ctx, request)
		},
	})
}

// expiry returns the time at which a request expires: the first of the ends of its lifetimes and of
// its certificate.
func expiry(request *certificatesv1.CertificateSigningRequest) time.Time {
	end := request.CreationTimestamp.Add(pendingLifetime)
	if len(request.Status.Conditions) > 0 {
		end = decisionExpiry(request)
	}
	if notAfter, ok := certificateExpiry(request.Status.Certificate); ok && notAfter.Before(end) {
		return notAfter
	}
	return end
}

// decisionExpiry returns the first end of the lifetimes that the conditions begin. An approved
// request without a certificate is pending.
func decisionExpiry(request *certificatesv1.CertificateSigningRequest) time.Time {
	var first time.Time
	for _, c := range request.Status.Conditions {
		lifetime := decidedLifetime
		if c.Type == certificatesv1.CertificateApproved && len(request.Status.Certificate) == 0 {
			lifetime = pendingLifetime
		}
		if end := c.LastUpdateTime.Add(lifetime); first.IsZero() || end.Before(first) {
			first = end
		}
	}
	return first
}

func certificateExpiry(certificate []byte) (time.Time, bool) {
	block, _ := pem.Decode(certificate)
	if block == nil {
		return time.Time{}, false
	}
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, false
	}
	return parsed.NotAfter, true
}
