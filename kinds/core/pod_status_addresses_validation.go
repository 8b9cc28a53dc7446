package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validatePodIPs(s, old *corev1.PodStatus, at *field.Path) field.ErrorList {
	list := func(ips []corev1.PodIP) []string {
		var list []string
		for i := range ips {
			list = append(list, ips[i].IP)
		}
		return list
	}
	return validateAddresses(list(s.PodIPs), list(old.PodIPs), at, kind.GoJSON(s.PodIPs))
}

func validateHostIPs(s, old *corev1.PodStatus, at *field.Path) field.ErrorList {
	if len(s.HostIPs) == 0 {
		return nil
	}
	list := func(ips []corev1.HostIP) []string {
		var list []string
		for i := range ips {
			list = append(list, ips[i].IP)
		}
		return list
	}
	var errs field.ErrorList
	if first := s.HostIPs[0].IP; s.HostIP != first {
		errs = append(errs, field.Invalid(at.Index(0).Child("ip"), first, "must be equal to `hostIP`"))
	}
	return append(errs, validateAddresses(list(s.HostIPs), list(old.HostIPs), at, kind.GoJSON(s.HostIPs))...)
}

// validateAddresses requires at most one address of each family. Existing addresses are not
// validated. shown is the list in messages.
func validateAddresses(ips, had []string, at *field.Path, shown any) field.ErrorList {
	var errs field.ErrorList
	for i, ip := range ips {
		errs = append(errs, utilvalidation.IsValidIPForLegacyField(at.Index(i), ip, true, had)...)
	}
	if len(ips) < 2 {
		return errs
	}
	dual, err := netutils.IsDualStackIPStrings(ips)
	if err != nil {
		errs = append(errs, field.InternalError(at, fmt.Errorf("failed to check for dual stack with error:%w", err)))
	}
	if !dual || len(ips) > 2 {
		errs = append(errs, field.Invalid(at, shown, "may specify no more than one IP for each IP family"))
	}
	return errs
}
