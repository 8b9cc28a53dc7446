package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func limitRanges(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.LimitRange]{
		GroupVersion:             corev1.SchemeGroupVersion,
		Object:                   &corev1.LimitRange{},
		List:                     &corev1.LimitRangeList{},
		Resource:                 "limitranges",
		GenerateNameOnUpdate:     true,
		ShortNames:               []string{"limits"},
		Namespaced:               true,
		Default:                  defaultLimitRange,
		PrepareForCreate:         nameLimitRange,
		Validate:                 validateLimitRange,
		AllowCreateOnUpdate:      true,
		AllowUnconditionalUpdate: true,
	}.Build(features)
}

// nameLimitRange sets a random name if there is none.
func nameLimitRange(_ context.Context, l *corev1.LimitRange) {
	if l.Name == "" {
		l.Name = string(uuid.NewUUID())
	}
}
