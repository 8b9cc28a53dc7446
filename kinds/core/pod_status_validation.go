package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/miniapi/miniapi/kinds/kind"
)

// validatePodStatus keeps what has ended from going on, and what a status says
// in line with the spec.
func validatePodStatus(p, old *corev1.Pod) field.ErrorList {
	at := field.NewPath("status")
	errs := validateFixedAnnotations(p.Annotations, old.Annotations)
	errs = append(errs, validatePodConditions(p.Status.Conditions)...)
	if name := p.Status.NominatedNodeName; name != "" && name != old.Status.NominatedNodeName {
		errs = append(errs, kind.Invalid(at.Child("nominatedNodeName"), name, validation.NameIsDNSSubdomain(name, false))...)
	}
	errs = append(errs, validation.ValidateImmutableField(p.Status.QOSClass, old.Status.QOSClass, at.Child("qosClass"))...)
	restarts := func(s *corev1.ContainerStatus) bool { return mayRestart(old, s) }
	never := func(*corev1.ContainerStatus) bool { return false }
	for _, list := range []struct {
		name     string
		now, was []corev1.ContainerStatus
		goesOn   func(*corev1.ContainerStatus) bool
	}{
		{"containerStatuses", p.Status.ContainerStatuses, old.Status.ContainerStatuses, restarts},
		{"initContainerStatuses", p.Status.InitContainerStatuses, old.Status.InitContainerStatuses, restarts},
		{"ephemeralContainerStatuses", p.Status.EphemeralContainerStatuses, old.Status.EphemeralContainerStatuses, never},
	} {
		errs = append(errs, validateEnded(list.now, list.was, list.goesOn, at.Child(list.name))...)
		errs = append(errs, validateUsers(p.Spec.OS, list.now, at.Child(list.name))...)
	}
	errs = append(errs, validateClaimStatuses(p, at.Child("resourceClaimStatuses"))...)
	errs = append(errs, validatePodIPs(p.Status.PodIPs, at.Child("podIPs"))...)
	return append(errs, validateHostIPs(&p.Status, at.Child("hostIPs"))...)
}

// validatePodConditions reports at the metadata, as kube-apiserver does.
func validatePodConditions(conditions []corev1.PodCondition) field.ErrorList {
	var errs field.ErrorList
	at := field.NewPath("metadata", "conditions")
	for i, c := range conditions {
		errs = append(errs, kind.Invalid(at.Index(i).Child("Type"), string(c.Type), utilvalidation.IsQualifiedName(string(c.Type)))...)
	}
	return errs
}

// mayRestart tells whether a container that has ended may go on. Of one with
// rules of its own a status says too little to be sure.
func mayRestart(p *corev1.Pod, s *corev1.ContainerStatus) bool {
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			if list[i].Name == s.Name && list[i].RestartPolicy != nil {
				return true
			}
		}
	}
	return p.Spec.RestartPolicy == corev1.RestartPolicyAlways ||
		p.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && s.State.Terminated.ExitCode != 0
}

func validateEnded(now, was []corev1.ContainerStatus, goesOn func(*corev1.ContainerStatus) bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range was {
		old := &was[i]
		if old.State.Terminated == nil || goesOn(old) {
			continue
		}
		for _, s := range now {
			if s.Name == old.Name && s.State.Terminated == nil {
				errs = append(errs, field.Forbidden(at.Index(i).Child("state"), "may not be transitioned to non-terminated state"))
			}
		}
	}
	return errs
}

func validateClaimStatuses(p *corev1.Pod, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	claims, taken := sets.New[string](), sets.New[string]()
	for _, c := range p.Spec.ResourceClaims {
		claims.Insert(c.Name)
	}
	for i, s := range p.Status.ResourceClaimStatuses {
		at := at.Index(i).Child("name")
		if !claims.Has(s.Name) {
			errs = append(errs, field.Invalid(at, s.Name, "must match the name of an entry in `spec.resourceClaims`"))
		}
		if taken.Has(s.Name) {
			errs = append(errs, field.Duplicate(at, s.Name))
		}
		taken.Insert(s.Name)
		if name := s.ResourceClaimName; name != nil {
			errs = append(errs, kind.Invalid(at, *name, validation.NameIsDNSSubdomain(*name, false))...)
		}
	}
	return errs
}

func validatePodIPs(ips []corev1.PodIP, at *field.Path) field.ErrorList {
	list := make([]string, len(ips))
	for i := range ips {
		list[i] = ips[i].IP
	}
	return validateAddresses(list, at, kind.GoJSON(ips))
}

func validateHostIPs(s *corev1.PodStatus, at *field.Path) field.ErrorList {
	if len(s.HostIPs) == 0 {
		return nil
	}
	list := make([]string, len(s.HostIPs))
	for i := range s.HostIPs {
		list[i] = s.HostIPs[i].IP
	}
	var errs field.ErrorList
	if s.HostIP != list[0] {
		errs = append(errs, field.Invalid(at.Index(0).Child("ip"), list[0], "must be equal to `hostIP`"))
	}
	return append(errs, validateAddresses(list, at, kind.GoJSON(s.HostIPs))...)
}

// validateAddresses wants one address of each family at most. Shown is the list
// as messages have it.
func validateAddresses(ips []string, at *field.Path, shown any) field.ErrorList {
	var errs field.ErrorList
	for i, ip := range ips {
		errs = append(errs, utilvalidation.IsValidIPForLegacyField(at.Index(i), ip, true, nil)...)
	}
	if len(ips) < 2 || len(errs) > 0 {
		return errs
	}
	if dual, err := netutils.IsDualStackIPStrings(ips); err != nil || !dual || len(ips) > 2 {
		errs = append(errs, field.Invalid(at, shown, "may specify no more than one IP for each IP family"))
	}
	taken := sets.New[string]()
	for i, ip := range ips {
		if taken.Has(ip) {
			errs = append(errs, field.Duplicate(at.Index(i), kind.GoJSON(corev1.PodIP{IP: ip})))
		}
		taken.Insert(ip)
	}
	return errs
}

// validateUsers looks at whom containers run as.
func validateUsers(os *corev1.PodOS, statuses []corev1.ContainerStatus, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range statuses {
		if statuses[i].User == nil || statuses[i].User.Linux == nil {
			continue
		}
		user, at := statuses[i].User.Linux, at.Index(i).Child("linux")
		if os != nil && os.Name == corev1.Windows {
			errs = append(errs, field.Forbidden(at, "cannot be set for a windows pod"))
			continue
		}
		errs = append(errs, kind.Invalid(at.Child("uid"), user.UID, utilvalidation.IsValidUserID(user.UID))...)
		errs = append(errs, kind.Invalid(at.Child("gid"), user.GID, utilvalidation.IsValidGroupID(user.GID))...)
		for j, id := range user.SupplementalGroups {
			errs = append(errs, kind.Invalid(at.Child("supplementalGroups").Index(j), id, utilvalidation.IsValidGroupID(id))...)
		}
	}
	return errs
}
