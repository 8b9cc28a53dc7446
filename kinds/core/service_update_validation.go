package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// validateServiceUpdate requires the primary address and its family to stay; secondary ones may be
// added and removed. It reports errors of the class twice, as kube-apiserver does.
func validateServiceUpdate(s, old *corev1.Service) field.ErrorList {
	var errs field.ErrorList
	if hasClusterIP(&s.Spec) && hasClusterIP(&old.Spec) {
		errs = append(errs, validateAddressChange(s, old)...)
		errs = append(errs, validateFamilyChange(s, old)...)
	}
	spec := field.NewPath("spec")
	if s.Spec.Type == corev1.ServiceTypeLoadBalancer && old.Spec.Type == corev1.ServiceTypeLoadBalancer &&
		!ptr.Equal(s.Spec.LoadBalancerClass, old.Spec.LoadBalancerClass) {
		errs = append(errs, field.Invalid(spec.Child("loadBalancerClass"), s.Spec.LoadBalancerClass, "may not change once set"))
	}
	errs = append(errs, validateBalancerClass(&s.Spec, spec.Child("loadBalancerClass"))...)
	if HasHealthCheck(&s.Spec) && HasHealthCheck(&old.Spec) && s.Spec.HealthCheckNodePort != old.Spec.HealthCheckNodePort {
		errs = append(errs, field.Forbidden(spec.Child("healthCheckNodePort"), validation.FieldImmutableErrorMsg))
	}
	return append(errs, validateService(s, old)...)
}

func validateAddressChange(s, old *corev1.Service) field.ErrorList {
	at := field.NewPath("spec", "clusterIPs")
	now, was := s.Spec.ClusterIPs, old.Spec.ClusterIPs
	if IsHeadless(s) && IsHeadless(old) {
		return nil
	}
	var errs field.ErrorList
	if len(was) > len(now) && len(now) == 0 {
		errs = append(errs, field.Invalid(at.Index(0), now, "primary clusterIP can not be unset"))
	}
	for i := range min(len(was), len(now)) {
		if now[i] != was[i] && (i == 0 || len(now) == len(was)) {
			errs = append(errs, field.Invalid(at.Index(i), now, "may not change once set"))
		}
	}
	if len(was) > len(now) && len(now) == 1 && !isSingleStack(&s.Spec) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilyPolicy"), s.Spec.IPFamilyPolicy, "must be set to 'SingleStack' when releasing the secondary clusterIP"))
	}
	return errs
}

func validateFamilyChange(s, old *corev1.Service) field.ErrorList {
	at := field.NewPath("spec", "ipFamilies").Index(0)
	now, was := s.Spec.IPFamilies, old.Spec.IPFamilies
	if IsHeadless(s) || IsHeadless(old) {
		return nil
	}
	var errs field.ErrorList
	if len(was) > len(now) && len(s.Spec.ClusterIPs) == 0 {
		errs = append(errs, field.Invalid(at, now, "primary ipFamily can not be unset"))
	}
	for i := range min(len(was), len(now)) {
		switch {
		case now[i] == was[i]:
		case len(now) == len(was):
			errs = append(errs, field.Invalid(at, now, "may not change once set"))
		case i == 0:
			errs = append(errs, field.Invalid(at, s.Spec.ClusterIPs, "may not change once set"))
		}
	}
	if len(was) > len(now) && len(now) == 1 && !isSingleStack(&s.Spec) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilyPolicy"), s.Spec.IPFamilyPolicy, "must be set to 'SingleStack' when releasing the secondary ipFamily"))
	}
	return errs
}

func isSingleStack(spec *corev1.ServiceSpec) bool {
	return spec.IPFamilyPolicy != nil && *spec.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack
}
