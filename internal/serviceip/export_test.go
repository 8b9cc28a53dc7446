package serviceip

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

var AccountCodec = accountCodec

// Ports are those that an account says are taken.
func Ports(account *corev1.RangeAllocation) []int {
	set := newPortSet(*utilnet.ParsePortRangeOrDie(account.Range), time.Time{})
	set.restore(account)
	return slices.AppendSeq([]int{}, set.taken())
}
