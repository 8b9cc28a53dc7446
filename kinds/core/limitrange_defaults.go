package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/podspec"
)

// defaultLimitRange derives missing default limits from maxima, and missing default requests from
// default limits or minima.
func defaultLimitRange(l *corev1.LimitRange) {
	for i := range l.Spec.Limits {
		item := &l.Spec.Limits[i]
		if item.Type == corev1.LimitTypeContainer {
			item.Default = fillResources(item.Default, item.Max)
			item.DefaultRequest = fillResources(item.DefaultRequest, item.Default)
			item.DefaultRequest = fillResources(item.DefaultRequest, item.Min)
		}
		for _, list := range []corev1.ResourceList{item.Max, item.Min, item.Default, item.DefaultRequest, item.MaxLimitRequestRatio} {
			podspec.RoundUp(list)
		}
	}
}
