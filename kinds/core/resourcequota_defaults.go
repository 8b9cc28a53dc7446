package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/podspec"
)

func defaultResourceQuota(q *corev1.ResourceQuota) {
	podspec.RoundUp(q.Spec.Hard)
	podspec.RoundUp(q.Status.Hard)
	podspec.RoundUp(q.Status.Used)
}
