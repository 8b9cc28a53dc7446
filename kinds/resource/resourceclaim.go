package resource

import (
	"context"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func resourceClaims(features *feature.Set) *registry.Resource {
	d := definition("resourceclaims", &resourcev1.ResourceClaim{}, &resourcev1.ResourceClaimList{})
	d.Namespaced = true
	d.GenerateNameOnUpdate = true
	d.Status = true
	d.GatedFields = gatedClaimFields
	d.ValidateCreate = validateClaim
	d.ValidateUpdate = claimUpdateValidation(features)
	d.StatusKeepsMetadata = true
	d.PrepareForStatusUpdate = prepareClaimStatus
	d.ValidateStatusUpdate = func(c, old *resourcev1.ResourceClaim) field.ErrorList {
		return validateClaimStatus(c, old, features)
	}
	d.Default = defaultClaim
	d.Columns = kind.StandardColumns(
		kind.TextColumn("State", "A summary of the current state (allocated, pending, reserved, etc.).",
			func(claim *resourcev1.ResourceClaim) any { return strings.Join(claimStates(claim), ",") }),
	)
	return d.Build(features)
}

func gatedClaimFields() []kind.GatedField {
	const result = "status.allocation.devices.results."
	return append(gatedClaimSpecFields("spec."), []kind.GatedField{
		{Gate: feature.DRAResourceClaimDeviceStatus, Paths: []string{"status.devices"}},
		{Gate: feature.DRAConsumableCapacity, Paths: []string{result + "shareID|consumedCapacity", "status.devices.shareID"}},
		{Gate: feature.DRADeviceBindingConditions, Paths: []string{result + bindingFields}},
		{Gate: feature.DRAOptionalNodeOperations, Paths: []string{result + "skipNodeOperations"}},
	}...)
}

// gatedClaimSpecFields returns the gated fields of a claim whose spec is at a path.
func gatedClaimSpecFields(at string) []kind.GatedField {
	requests := at + "devices.requests."
	request := requests + "exactly|firstAvailable."
	return []kind.GatedField{
		{Gate: feature.DRAPrioritizedList, Paths: []string{requests + "firstAvailable"}},
		{Gate: feature.DRADeviceTaints, Paths: []string{request + "tolerations"}},
		{Gate: feature.DRAConsumableCapacity, Paths: []string{request + "capacity", at + "devices.constraints.distinctAttribute"}},
		{Gate: feature.DRADerivedAttributes, Paths: []string{request + "derivedAttributes"}},
	}
}

// device identifies a device, or a share of one, in a claim's status. Error messages show it as
// JSON.
type device struct{ Driver, Pool, Device, ShareID string }

// prepareClaimStatus removes the status of devices that this write removes from the allocation.
func prepareClaimStatus(_ context.Context, claim, old *resourcev1.ResourceClaim) {
	status := &claim.Status
	before, now := allocatedDevices(old), allocatedDevices(claim)
	status.Devices = slices.DeleteFunc(status.Devices, func(d resourcev1.AllocatedDeviceStatus) bool {
		id := deviceOf(d)
		return before[id] && !now[id]
	})
	if len(status.Devices) == 0 {
		status.Devices = nil
	}
}

func allocatedDevices(claim *resourcev1.ResourceClaim) map[device]bool {
	if claim.Status.Allocation == nil {
		return nil
	}
	devices := map[device]bool{}
	for _, result := range claim.Status.Allocation.Devices.Results {
		devices[device{result.Driver, result.Pool, result.Device, string(ptr.Deref(result.ShareID, ""))}] = true
	}
	return devices
}

func claimStates(claim *resourcev1.ResourceClaim) []string {
	var states []string
	deleted := claim.DeletionTimestamp != nil
	allocated := claim.Status.Allocation != nil
	if deleted {
		states = append(states, "deleted")
	}
	if !deleted && !allocated {
		states = append(states, "pending")
	}
	if allocated {
		states = append(states, "allocated")
	}
	if allocated && len(claim.Status.ReservedFor) > 0 {
		states = append(states, "reserved")
	}
	return states
}
