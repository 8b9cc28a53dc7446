package resource

import (
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultClaim(claim *resourcev1.ResourceClaim) {
	defaultRequests(claim.Spec.Devices.Requests)
	if allocation := claim.Status.Allocation; allocation != nil {
		for i := range allocation.Devices.Results {
			defaultTolerations(allocation.Devices.Results[i].Tolerations)
		}
	}
}

func defaultClaimTemplate(template *resourcev1.ResourceClaimTemplate) {
	defaultRequests(template.Spec.Spec.Devices.Requests)
}

func defaultRequests(requests []resourcev1.DeviceRequest) {
	for i := range requests {
		if exactly := requests[i].Exactly; exactly != nil {
			defaultAmount(&exactly.AllocationMode, &exactly.Count)
			defaultTolerations(exactly.Tolerations)
		}
		for j := range requests[i].FirstAvailable {
			request := &requests[i].FirstAvailable[j]
			defaultAmount(&request.AllocationMode, &request.Count)
			defaultTolerations(request.Tolerations)
		}
	}
}

// defaultAmount sets the default of one device.
func defaultAmount(mode *resourcev1.DeviceAllocationMode, count *int64) {
	kind.SetDefault(mode, resourcev1.DeviceAllocationModeExactCount)
	if *mode == resourcev1.DeviceAllocationModeExactCount {
		kind.SetDefault(count, 1)
	}
}

func defaultTolerations(tolerations []resourcev1.DeviceToleration) {
	for i := range tolerations {
		kind.SetDefault(&tolerations[i].Operator, resourcev1.DeviceTolerationOpEqual)
	}
}

func defaultTaintTimes(slice *resourcev1.ResourceSlice, now metav1.Time) {
	for i := range slice.Spec.Devices {
		taints := slice.Spec.Devices[i].Taints
		for j := range taints {
			defaultTimeAdded(&taints[j], now)
		}
	}
}

// defaultTimeAdded sets the time of a new taint in whole seconds, which is the stored precision.
func defaultTimeAdded(taint *resourcev1.DeviceTaint, now metav1.Time) {
	if taint.TimeAdded == nil {
		taint.TimeAdded = &metav1.Time{Time: now.Truncate(time.Second)}
	}
}
