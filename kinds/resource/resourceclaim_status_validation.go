package resource

import (
	"context"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// validateClaimStatus rejects changes of an existing allocation, and references to devices that
// are not allocated.
func validateClaimStatus(c, old *resourcev1.ResourceClaim, features *feature.Set) field.ErrorList {
	status := field.NewPath("status")
	reserved := status.Child("reservedFor")
	errs := slices.Concat(
		each(c.Status.ReservedFor, resourcev1.ResourceClaimReservedForMaxSize, reserved, validateConsumer),
		uniqueObjects(c.Status.ReservedFor, reserved, func(r resourcev1.ResourceClaimConsumerReference) string { return string(r.UID) }),
		each(c.Status.Devices, unlimited, status.Child("devices"), deviceStatusOf(c, features)),
		uniqueObjects(c.Status.Devices, status.Child("devices"), deviceOf),
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
		if s := c.Status.Allocation.NodeSelector; s != nil {
			errs = append(errs, podspec.ValidateNodeSelector(s, allocation.Child("nodeSelector"))...)
		}
	}
	return errs
}

func validateConsumer(r resourcev1.ResourceClaimConsumerReference, at *field.Path) field.ErrorList {
	return slices.Concat(
		kind.Required(at.Child("resource"), r.Resource),
		kind.Required(at.Child("name"), r.Name),
		kind.Required(at.Child("uid"), string(r.UID)),
	)
}

func deviceOf(d resourcev1.AllocatedDeviceStatus) device {
	return device{d.Driver, d.Pool, d.Device, ptr.Deref(d.ShareID, "")}
}

func validateShare(id string, at *field.Path) field.ErrorList {
	return kind.ByTag(validate.UUID(context.Background(), operation.Operation{}, at, &id, nil))
}

func validateNetworkData(n *resourcev1.NetworkDeviceData, at *field.Path) field.ErrorList {
	if n == nil {
		return nil
	}
	var errs field.ErrorList
	if len(n.InterfaceName) > resourcev1.NetworkDeviceDataInterfaceNameMaxLength {
		errs = append(errs, field.TooLong(at.Child("interfaceName"), "", resourcev1.NetworkDeviceDataInterfaceNameMaxLength))
	}
	if len(n.HardwareAddress) > resourcev1.NetworkDeviceDataHardwareAddressMaxLength {
		errs = append(errs, field.TooLong(at.Child("hardwareAddress"), "", resourcev1.NetworkDeviceDataHardwareAddressMaxLength))
	}
	ips := at.Child("ips")
	errs = append(errs, each(n.IPs, resourcev1.NetworkDeviceDataMaxIPs, ips, func(ip string, at *field.Path) field.ErrorList {
		return utilvalidation.IsValidInterfaceAddress(at, ip)
	})...)
	return append(errs, unique(n.IPs, ips, identity)...)
}

func deviceStatusOf(c *resourcev1.ResourceClaim, features *feature.Set) func(resourcev1.AllocatedDeviceStatus, *field.Path) field.ErrorList {
	allocated := allocatedDevices(c)
	return func(d resourcev1.AllocatedDeviceStatus, at *field.Path) field.ErrorList {
		errs := slices.Concat(
			validateDriverName(d.Driver, at.Child("driver")),
			validatePoolName(d.Pool, at.Child("pool")),
			dnsLabel(d.Device, at.Child("device")),
		)
		if d.ShareID != nil {
			errs = append(errs, validateShare(*d.ShareID, at.Child("shareID"))...)
		}
		if !allocated[deviceOf(d)] {
			errs = append(errs, field.Invalid(at, deviceOf(d), "must be an allocated device in the claim"))
		}
		if n := len(d.Conditions); n > resourcev1.AllocatedDeviceStatusMaxConditions {
			errs = append(errs, field.TooMany(at.Child("conditions"), n, resourcev1.AllocatedDeviceStatusMaxConditions))
		}
		errs = append(errs, kind.Conditions(features, at.Child("conditions"), d.Conditions)...)
		if d.Data != nil && len(d.Data.Raw) > 0 {
			errs = append(errs, validateParameters(*d.Data, resourcev1.AllocatedDeviceStatusDataMaxLength, at.Child("data"))...)
		}
		return append(errs, validateNetworkData(d.NetworkData, at.Child("networkData"))...)
	}
}

// mostConfigurations is the maximum number of configurations of the class and of the claim.
const mostConfigurations = 2 * resourcev1.DeviceConfigMaxSize

func (n names) validateAllocation(a *resourcev1.DeviceAllocationResult, at *field.Path) field.ErrorList {
	return slices.Concat(
		each(a.Results, resourcev1.AllocationResultsMaxSize, at.Child("results"), n.validateResult),
		each(a.Config, mostConfigurations, at.Child("config"),
			func(c resourcev1.DeviceAllocationConfiguration, at *field.Path) field.ErrorList {
				return slices.Concat(
					kind.OneOf(at.Child("source"), c.Source, resourcev1.AllocationConfigSourceClaim, resourcev1.AllocationConfigSourceClass),
					n.validateRefs(c.Requests, at.Child("requests")),
					validateConfiguration(c.DeviceConfiguration, resourcev1.OpaqueParametersMaxLength, at),
				)
			}),
	)
}

func (n names) validateResult(r resourcev1.DeviceRequestAllocationResult, at *field.Path) field.ErrorList {
	errs := slices.Concat(
		n.validateRef(r.Request, at.Child("request")),
		kind.DriverName(at.Child("driver"), r.Driver),
		validateResultPool(r.Pool, at.Child("pool")),
		dnsLabel(r.Device, at.Child("device")),
		validateBinding(r.BindingConditions, r.BindingFailureConditions, at),
		each(r.Tolerations, unlimited, at.Child("tolerations"), validateToleration),
	)
	if r.ShareID != nil {
		errs = append(errs, validateShare(string(*r.ShareID), at.Child("shareID"))...)
	}
	return errs
}

// validateResultPool is validatePoolName by a tag of the type.
func validateResultPool(name string, at *field.Path) field.ErrorList {
	errs := kind.Required(at, name)
	if name != "" {
		errs = validate.ResourcePoolName(context.Background(), operation.Operation{}, at, &name, nil)
	}
	return kind.ByTag(errs)
}
