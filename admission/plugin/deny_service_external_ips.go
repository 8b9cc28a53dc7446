package plugin

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/registry"
)

// DenyServiceExternalIPs rejects new external IPs of Services.
func DenyServiceExternalIPs() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "DenyServiceExternalIPs", Validate: denyExternalIPs}
}

func denyExternalIPs(_ context.Context, a *registry.Attributes) error {
	service, ok := written[*corev1.Service](a)
	if !ok {
		return nil
	}
	var known []string
	if old, ok := a.OldObject.(*corev1.Service); ok {
		known = old.Spec.ExternalIPs
	}
	if slices.ContainsFunc(service.Spec.ExternalIPs, func(ip string) bool { return !slices.Contains(known, ip) }) {
		return forbidden(a, errors.New("Use of external IPs is denied by admission control"))
	}
	return nil
}
