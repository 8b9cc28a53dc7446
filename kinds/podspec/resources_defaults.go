package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// RoundUp rounds quantities up to thousandths, the finest unit.
func RoundUp(list corev1.ResourceList) {
	for name, quantity := range list {
		if rounded := quantity; !rounded.RoundUp(resource.Milli) {
			list[name] = rounded
		}
	}
}

func roundRequirements(r *corev1.ResourceRequirements) {
	RoundUp(r.Limits)
	RoundUp(r.Requests)
}
