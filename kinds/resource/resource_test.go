package resource

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func claimWith(allocated ...string) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{}
	if allocated == nil {
		return claim
	}
	claim.Status.Allocation = &resourcev1.AllocationResult{}
	for _, name := range allocated {
		claim.Status.Allocation.Devices.Results = append(claim.Status.Allocation.Devices.Results,
			resourcev1.DeviceRequestAllocationResult{Driver: "d", Pool: "p", Device: name})
		claim.Status.Devices = append(claim.Status.Devices,
			resourcev1.AllocatedDeviceStatus{Driver: "d", Pool: "p", Device: name})
	}
	return claim
}

func TestStatusOfDeallocatedDevicesIsRemoved(t *testing.T) {
	status, ok := resourceClaims(feature.Default()).Subresource("status")
	if !ok {
		t.Fatal("there is no status")
	}
	old := claimWith("a", "b")
	claim := claimWith("a", "b")
	claim.Labels = map[string]string{"not": "by status"}
	claim.Status.Allocation.Devices.Results = claim.Status.Allocation.Devices.Results[:1]
	status.Update.Prepare(t.Context(), claim, old)
	if diff := cmp.Diff(claimWith("a"), claim); diff != "" {
		t.Errorf("after b was given back (-want +got):\n%s", diff)
	}
	claim = claimWith("a", "b")
	claim.Status.Allocation = nil
	status.Update.Prepare(t.Context(), claim, old)
	if claim.Status.Devices != nil {
		t.Errorf("after all were given back: %v", claim.Status.Devices)
	}
	if len(old.Status.Devices) != 2 {
		t.Error("the old object was written to")
	}
}

func TestClaimStates(t *testing.T) {
	reserved, deleted, leaving := claimWith("a"), claimWith(), claimWith("a")
	reserved.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Name: "pod"}}
	deleted.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
	leaving.DeletionTimestamp = deleted.DeletionTimestamp
	for want, claim := range map[string]*resourcev1.ResourceClaim{
		"pending":            claimWith(),
		"allocated":          claimWith("a"),
		"allocated,reserved": reserved,
		"deleted":            deleted,
		"deleted,allocated":  leaving,
	} {
		if got := strings.Join(claimStates(claim), ","); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSlicesAreSelectedByNodeAndDriver(t *testing.T) {
	slice := &resourcev1.ResourceSlice{}
	slice.Spec.Driver = "GPU.example.com"
	want := fields.Set{"spec.nodeName": "", "spec.driver": "GPU.example.com", "spec.pool.name": ""}
	if diff := cmp.Diff(want, resourceSliceFields(slice)); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if cell := registrytest.Cells(resourceSlices(feature.Default()), slice)[1]; cell != nil {
		t.Errorf("the node of a slice without one: %v", cell)
	}
	slice.Spec.NodeName = ptr.To("n")
	if cell := registrytest.Cells(resourceSlices(feature.Default()), slice)[1]; cell != "n" {
		t.Errorf("node %v", cell)
	}
	resource := resourceSlices(feature.Default())
	for label, known := range map[string]bool{"spec.nodeName": true, "spec.driver": true, "metadata.name": true, "spec.pool.name": true, "spec.x": false} {
		if _, _, err := resource.Versions[0].FieldLabel(label, "x"); (err == nil) != known {
			t.Errorf("%s: %v", label, err)
		}
	}
	if _, _, err := resourceSlices(feature.At(36)).Versions[0].FieldLabel("spec.pool.name", "x"); err == nil {
		t.Error("1.36 selects by pool")
	}
	warning := []string{`spec.driver: driver names should be lowercase; "GPU.example.com" contains uppercase characters`}
	if diff := cmp.Diff(warning, resource.Strategy.Create.Warnings(t.Context(), slice)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestNewTaintsGetTheCurrentTime(t *testing.T) {
	slice := &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Devices: []resourcev1.Device{
		{Name: "d", Taints: []resourcev1.DeviceTaint{{Key: "k", Effect: resourcev1.DeviceTaintEffectNoSchedule}}},
	}}}
	now := metav1.NewTime(time.Unix(1700000000, 5))
	defaultTaintTimes(slice, now)
	first := slice.Spec.Devices[0].Taints[0].TimeAdded
	if !first.Time.Equal(time.Unix(1700000000, 0)) {
		t.Fatalf("dated %v", first)
	}
	defaultTaintTimes(slice, metav1.NewTime(now.Add(time.Hour)))
	if again := slice.Spec.Devices[0].Taints[0].TimeAdded; again != first {
		t.Errorf("dated %v, and then %v", first, again)
	}
}
