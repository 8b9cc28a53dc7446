package serviceip

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

var RangeAllocationCodec = rangeAllocationCodec

// Ports returns the allocated ports.
func Ports(allocation *corev1.RangeAllocation) []int {
	bitmap := newPortBitmap(*utilnet.ParsePortRangeOrDie(allocation.Range), time.Time{})
	bitmap.restore(allocation)
	return slices.AppendSeq([]int{}, bitmap.allocated())
}
