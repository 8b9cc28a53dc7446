package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func limitRanges() *registry.Resource {
	return kind.Definition{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.LimitRange{},
		List:         &corev1.LimitRangeList{},
		Resource:     "limitranges",
		ShortNames:   []string{"limits"},
		Namespaced:   true,
		Default:      kind.Defaults(defaultLimitRange),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateLimitRange)},
			Update: registry.UpdateStrategy{AllowCreate: true, AllowUnconditional: true, Validate: kind.CheckAgain(validateLimitRange)},
		},
	}.Build()
}
