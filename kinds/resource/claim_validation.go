package resource

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateClaim(c *resourcev1.ResourceClaim) field.ErrorList {
	return validateDevices(&c.Spec.Devices, field.NewPath("spec", "devices"))
}

func validateClaimUpdate(c, old *resourcev1.ResourceClaim) field.ErrorList {
	return kind.Immutable(field.NewPath("spec"), c.Spec, old.Spec)
}

func validateTemplate(t *resourcev1.ResourceClaimTemplate) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		validation.ValidateAnnotations(t.Spec.Annotations, spec.Child("metadata", "annotations")),
		metavalidation.ValidateLabels(t.Spec.Labels, spec.Child("metadata", "labels")),
		validateDevices(&t.Spec.Spec.Devices, spec.Child("spec", "devices")),
	)
}

func validateTemplateUpdate(t, old *resourcev1.ResourceClaimTemplate) field.ErrorList {
	return kind.Immutable(field.NewPath("spec"), t.Spec, old.Spec)
}

// names are those of requests, each with those of its alternatives.
type names map[string]sets.Set[string]

func namesOf(c *resourcev1.DeviceClaim) names {
	n := names{}
	for _, r := range c.Requests {
		n[r.Name] = sets.New[string]()
		for _, sub := range r.FirstAvailable {
			n[r.Name].Insert(sub.Name)
		}
	}
	return n
}

// validateRef wants the name of a request, or of an alternative behind that.
func (n names) validateRef(name string, at *field.Path) field.ErrorList {
	request, sub, ok := strings.Cut(name, "/")
	const message = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	if strings.Contains(sub, "/") {
		return field.ErrorList{field.Invalid(at, name, message)}
	}
	errs := kind.Invalid(at, request, utilvalidation.IsDNS1123Label(request))
	if ok {
		errs = append(errs, kind.Invalid(at, sub, utilvalidation.IsDNS1123Label(sub))...)
	}
	if subs, known := n[request]; !known || ok && !subs.Has(sub) {
		errs = append(errs, field.Invalid(at, name, message))
	}
	return errs
}

func (n names) validateRefs(list []string, at *field.Path) field.ErrorList {
	errs := each(list, resourcev1.DeviceRequestsMaxSize, at, n.validateRef)
	return append(errs, unique(list, at, itself)...)
}

func validateDevices(c *resourcev1.DeviceClaim, at *field.Path) field.ErrorList {
	known := namesOf(c)
	return slices.Concat(
		each(c.Requests, resourcev1.DeviceRequestsMaxSize, at.Child("requests"), validateRequest),
		unique(c.Requests, at.Child("requests"), func(r resourcev1.DeviceRequest) string { return r.Name }),
		each(c.Constraints, resourcev1.DeviceConstraintsMaxSize, at.Child("constraints"), known.validateConstraint),
		each(c.Config, resourcev1.DeviceConfigMaxSize, at.Child("config"), func(c resourcev1.DeviceClaimConfiguration, at *field.Path) field.ErrorList {
			return append(known.validateRefs(c.Requests, at.Child("requests")), validateConfiguration(c.DeviceConfiguration, at)...)
		}),
	)
}

func validateRequest(r resourcev1.DeviceRequest, at *field.Path) field.ErrorList {
	errs := kind.Named(at.Child("name"), r.Name, utilvalidation.IsDNS1123Label)
	first := at.Child("firstAvailable")
	switch alternatives := len(r.FirstAvailable) > 0; {
	case !alternatives && r.Exactly == nil:
		errs = append(errs, field.Required(at, "exactly one of `exactly` or `firstAvailable` is required"))
	case alternatives && r.Exactly != nil:
		errs = append(errs, field.Invalid(at, nil, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"))
	case alternatives:
		errs = slices.Concat(errs,
			each(r.FirstAvailable, resourcev1.FirstAvailableDeviceRequestMaxSize, first, validateAlternative),
			unique(r.FirstAvailable, first, func(s resourcev1.DeviceSubRequest) string { return s.Name }),
		)
	default:
		e, at := r.Exactly, at.Child("exactly")
		errs = slices.Concat(errs,
			kind.Named(at.Child("deviceClassName"), e.DeviceClassName, utilvalidation.IsDNS1123Subdomain),
			validateSelectors(e.Selectors, at.Child("selectors")),
			validateAmount(e.AllocationMode, e.Count, at),
			each(e.Tolerations, resourcev1.DeviceTolerationsMaxLength, at.Child("tolerations"), validateToleration),
		)
	}
	return errs
}

func validateAlternative(s resourcev1.DeviceSubRequest, at *field.Path) field.ErrorList {
	return slices.Concat(
		kind.Named(at.Child("name"), s.Name, utilvalidation.IsDNS1123Label),
		kind.Named(at.Child("deviceClassName"), s.DeviceClassName, utilvalidation.IsDNS1123Subdomain),
		validateSelectors(s.Selectors, at.Child("selectors")),
		validateAmount(s.AllocationMode, s.Count, at),
		each(s.Tolerations, resourcev1.DeviceTolerationsMaxLength, at.Child("tolerations"), validateToleration),
	)
}

func validateAmount(mode resourcev1.DeviceAllocationMode, n int64, at *field.Path) field.ErrorList {
	switch {
	case mode == resourcev1.DeviceAllocationModeAll && n != 0:
		return field.ErrorList{field.Invalid(at.Child("count"), n, fmt.Sprintf("must not be specified when allocationMode is '%s'", mode))}
	case mode == resourcev1.DeviceAllocationModeExactCount && n <= 0:
		return field.ErrorList{field.Invalid(at.Child("count"), n, "must be greater than zero")}
	}
	return kind.Supported(at.Child("allocationMode"), mode, resourcev1.DeviceAllocationModeAll, resourcev1.DeviceAllocationModeExactCount)
}

func (n names) validateConstraint(c resourcev1.DeviceConstraint, at *field.Path) field.ErrorList {
	errs := n.validateRefs(c.Requests, at.Child("requests"))
	switch {
	case c.MatchAttribute != nil:
		return append(errs, validateFullName(string(*c.MatchAttribute), at.Child("matchAttribute"))...)
	case c.DistinctAttribute != nil:
		return append(errs, validateFullName(string(*c.DistinctAttribute), at.Child("distinctAttribute"))...)
	}
	return append(errs, field.Required(at, `exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`))
}

// validateClaimStatus keeps what has been allocated, and lets only that be used.
func validateClaimStatus(c, old *resourcev1.ResourceClaim) field.ErrorList {
	status := field.NewPath("status")
	reserved := status.Child("reservedFor")
	errs := slices.Concat(
		each(c.Status.ReservedFor, resourcev1.ResourceClaimReservedForMaxSize, reserved, validateConsumer),
		unique(c.Status.ReservedFor, reserved, func(r resourcev1.ResourceClaimConsumerReference) string { return string(r.UID) }),
		each(c.Status.Devices, unlimited, status.Child("devices"), deviceStatusOf(c)),
		unique(c.Status.Devices, status.Child("devices"), func(d resourcev1.AllocatedDeviceStatus) string { return deviceOf(d).String() }),
	)
	if len(c.Status.ReservedFor) > 0 && c.Status.Allocation == nil {
		errs = append(errs, field.Forbidden(reserved, "may not be specified when `allocated` is not set"))
	}
	if len(c.Status.ReservedFor) > 0 && c.Status.Allocation != nil && c.DeletionTimestamp != nil &&
		sets.New(c.Status.ReservedFor...).Difference(sets.New(old.Status.ReservedFor...)).Len() > 0 {
		errs = append(errs, field.Forbidden(reserved, "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"))
	}
	switch allocation := status.Child("allocation"); {
	case c.Status.Allocation == nil:
	case old.Status.Allocation != nil:
		errs = append(errs, kind.Immutable(allocation, c.Status.Allocation, old.Status.Allocation)...)
	default:
		errs = append(errs, namesOf(&c.Spec.Devices).validateAllocation(&c.Status.Allocation.Devices, allocation.Child("devices"))...)
	}
	return errs
}

func validateConsumer(r resourcev1.ResourceClaimConsumerReference, at *field.Path) field.ErrorList {
	return slices.Concat(
		kind.Needed(at.Child("resource"), r.Resource),
		kind.Needed(at.Child("name"), r.Name),
		kind.Needed(at.Child("uid"), string(r.UID)),
	)
}

func deviceOf(d resourcev1.AllocatedDeviceStatus) device { return device{d.Driver, d.Pool, d.Device} }

// String spells a device as kube-apiserver does.
func (d device) String() string { return strings.Join([]string{d.driver, d.pool, d.name}, "/") }

func deviceStatusOf(c *resourcev1.ResourceClaim) func(resourcev1.AllocatedDeviceStatus, *field.Path) field.ErrorList {
	allocated := allocatedDevices(c)
	return func(d resourcev1.AllocatedDeviceStatus, at *field.Path) field.ErrorList {
		errs := slices.Concat(
			validateDriverName(d.Driver, at.Child("driver")),
			validatePoolName(d.Pool, at.Child("pool")),
			kind.Named(at.Child("device"), d.Device, utilvalidation.IsDNS1123Label),
		)
		if !allocated[deviceOf(d)] {
			errs = append(errs, field.Invalid(at, deviceOf(d).String(), "must be an allocated device in the claim"))
		}
		errs = append(errs, metavalidation.ValidateConditions(d.Conditions, at.Child("conditions"))...)
		if d.Data != nil && len(d.Data.Raw) > 0 {
			errs = append(errs, validateParameters(*d.Data, resourcev1.AllocatedDeviceStatusDataMaxLength, at.Child("data"))...)
		}
		return errs
	}
}

func (n names) validateAllocation(a *resourcev1.DeviceAllocationResult, at *field.Path) field.ErrorList {
	return slices.Concat(
		each(a.Results, resourcev1.AllocationResultsMaxSize, at.Child("results"),
			func(r resourcev1.DeviceRequestAllocationResult, at *field.Path) field.ErrorList {
				return slices.Concat(
					n.validateRef(r.Request, at.Child("request")),
					validateDriverName(r.Driver, at.Child("driver")),
					validatePoolName(r.Pool, at.Child("pool")),
					kind.Named(at.Child("device"), r.Device, utilvalidation.IsDNS1123Label),
					each(r.Tolerations, resourcev1.DeviceTolerationsMaxLength, at.Child("tolerations"), validateToleration),
				)
			}),
		each(a.Config, 2*resourcev1.DeviceConfigMaxSize, at.Child("config"), // of the class and of the claim
			func(c resourcev1.DeviceAllocationConfiguration, at *field.Path) field.ErrorList {
				return slices.Concat(
					kind.OneOf(at.Child("source"), c.Source, resourcev1.AllocationConfigSourceClaim, resourcev1.AllocationConfigSourceClass),
					n.validateRefs(c.Requests, at.Child("requests")),
					validateConfiguration(c.DeviceConfiguration, at),
				)
			}),
	)
}

func validateClass(c *resourcev1.DeviceClass) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		validateSelectors(c.Spec.Selectors, spec.Child("selectors")),
		each(c.Spec.Config, resourcev1.DeviceConfigMaxSize, spec.Child("config"),
			func(c resourcev1.DeviceClassConfiguration, at *field.Path) field.ErrorList {
				return validateConfiguration(c.DeviceConfiguration, at)
			}),
	)
}
