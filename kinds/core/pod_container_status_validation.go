package core

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// validateContainerStatuses validates the users and the allocated resources of containers.
func validateContainerStatuses(p *corev1.Pod, at *field.Path) field.ErrorList {
	s := &p.Status
	ordinary, inits, ephemeral := at.Child("containerStatuses"), at.Child("initContainerStatuses"), at.Child("ephemeralContainerStatuses")
	errs := validateUsers(p.Spec.OS, s.ContainerStatuses, ordinary)
	errs = append(errs, validateUsers(p.Spec.OS, s.InitContainerStatuses, inits)...)
	errs = append(errs, validateUsers(p.Spec.OS, s.EphemeralContainerStatuses, ephemeral)...)
	errs = append(errs, validateAllocated(s.ContainerStatuses, p.Spec.Containers, ordinary)...)
	errs = append(errs, validateAllocated(s.InitContainerStatuses, p.Spec.InitContainers, inits)...)
	for i := range s.EphemeralContainerStatuses {
		if len(s.EphemeralContainerStatuses[i].AllocatedResourcesStatus) > 0 {
			errs = append(errs, field.Forbidden(ephemeral.Index(i).Child("allocatedResourcesStatus"), "must not be specified in container status"))
		}
	}
	return errs
}

func validateUsers(os *corev1.PodOS, statuses []corev1.ContainerStatus, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range statuses {
		if statuses[i].User == nil || statuses[i].User.Linux == nil {
			continue
		}
		user, at := statuses[i].User.Linux, at.Index(i).Child("user", "linux")
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

// validateAllocated validates the health of allocated devices. It does not check the devices of a
// container that the spec does not have.
func validateAllocated(statuses []corev1.ContainerStatus, containers []corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range statuses {
		s := &statuses[i]
		of := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == s.Name })
		for j := range s.AllocatedResourcesStatus {
			resource, at := &s.AllocatedResourcesStatus[j], at.Index(i).Child("allocatedResourcesStatus").Index(j)
			if of >= 0 {
				errs = append(errs, validateAskedFor(resource.Name, &containers[of].Resources, at.Child("name"))...)
			}
			errs = append(errs, validateHealth(resource.Resources, at.Child("resources"))...)
		}
	}
	return errs
}

func validateAskedFor(name corev1.ResourceName, r *corev1.ResourceRequirements, at *field.Path) field.ErrorList {
	if !strings.HasPrefix(string(name), "claim:") {
		if _, ok := r.Requests[name]; ok {
			return nil
		}
		return field.ErrorList{field.Invalid(at, name, "must match one of the container's resource requests")}
	}
	for _, c := range r.Claims {
		claim := "claim:" + c.Name
		if c.Request != "" {
			claim += "/" + c.Request
		}
		if claim == string(name) {
			return nil
		}
	}
	return field.ErrorList{field.Invalid(at, name,
		"must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty")}
}

func validateHealth(list []corev1.ResourceHealth, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := sets.New[corev1.ResourceID]()
	for i, r := range list {
		at := at.Index(i)
		errs = append(errs, kind.Supported(at.Child("health"), r.Health,
			corev1.ResourceHealthStatusHealthy, corev1.ResourceHealthStatusUnhealthy, corev1.ResourceHealthStatusUnknown)...)
		if text := r.Message; text != nil {
			switch {
			case *text == "":
				errs = append(errs, field.Required(at.Child("message"), "must be non-empty if specified"))
			case len(*text) > corev1.ResourceHealthMessageMaxLength:
				errs = append(errs, field.TooLong(at.Child("message"), *text, corev1.ResourceHealthMessageMaxLength))
			}
		}
		if taken.Has(r.ResourceID) {
			errs = append(errs, field.Duplicate(at.Child("resourceID"), r.ResourceID))
		}
		taken.Insert(r.ResourceID)
	}
	return errs
}

// validateExtendedClaims validates the claim for extended resources that containers request.
func validateExtendedClaims(p *corev1.Pod, at *field.Path) field.ErrorList {
	s := p.Status.ExtendedResourceClaimStatus
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	mappings := at.Child("requestMappings")
	if len(s.RequestMappings) == 0 {
		errs = append(errs, field.Required(mappings, "at least one request mapping is required"))
	}
	taken := sets.New[corev1.ContainerExtendedResourceRequest]()
	for i, m := range s.RequestMappings {
		place := mappings.Index(i)
		errs = append(errs, validateMapping(p, m, place)...)
		errs = append(errs, kind.Invalid(at.Child("requestName"), m.RequestName, utilvalidation.IsDNS1123Label(m.RequestName))...)
		if taken.Has(m) {
			errs = append(errs, field.Duplicate(place.Child("containerName"), m.ContainerName),
				field.Duplicate(place.Child("resourceName"), m.ResourceName), field.Duplicate(place.Child("requestName"), m.RequestName))
		}
		taken.Insert(m)
	}
	return append(errs, kind.Formatted(at.Child("resourceClaimName"), s.ResourceClaimName, func(name string) []string {
		return validation.NameIsDNSSubdomain(name, false)
	})...)
}

func validateMapping(p *corev1.Pod, m corev1.ContainerExtendedResourceRequest, at *field.Path) field.ErrorList {
	for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
		if c.Name != m.ContainerName {
			continue
		}
		if _, ok := c.Resources.Requests[corev1.ResourceName(m.ResourceName)]; ok {
			return nil
		}
		return field.ErrorList{field.Invalid(at.Child("resourceName"), m.ResourceName, "must match the extended resource name of an entry in "+
			"spec.initContainers.resources.requests or spec.containers.resources.requests")}
	}
	return field.ErrorList{field.Invalid(at.Child("containerName"), m.ContainerName,
		"must match the name of an entry in spec.initContainers.name or spec.containers.name")}
}
