package autoscaling

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func horizontalPodAutoscalers(features *feature.Set) *registry.Resource {
	return kind.Definition[*autoscalingv2.HorizontalPodAutoscaler]{
		GroupVersion:             autoscalingv2.SchemeGroupVersion,
		Object:                   &autoscalingv2.HorizontalPodAutoscaler{},
		List:                     &autoscalingv2.HorizontalPodAutoscalerList{},
		Resource:                 "horizontalpodautoscalers",
		Default:                  defaultAutoscaler,
		Restore:                  defaultAutoscaler, // v1 stores behavior without defaults
		ShortNames:               []string{"hpa"},
		Categories:               []string{"all"},
		Namespaced:               true,
		Generation:               features.Enabled(feature.HPAGeneration),
		Status:                   true,
		AllowUnconditionalUpdate: true,
		ValidateCreate: func(a *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
			return validateAutoscaler(a, features)
		},
		ValidateUpdate: func(a, old *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
			return validateAutoscalerUpdate(a, old, features)
		},
		ValidateStatusUpdate: validateStatus,
		GatedFields:          kind.Gated(feature.HPAConfigurableTolerance, "spec.behavior.scaleUp|scaleDown.tolerance"),
		Columns:              columns(),
		MoreVersions: []registry.Version{kind.Version[*autoscalingv2.HorizontalPodAutoscaler, *autoscalingv1.HorizontalPodAutoscaler]{
			Name:    autoscalingv1.SchemeGroupVersion.Version,
			Object:  &autoscalingv1.HorizontalPodAutoscaler{},
			List:    &autoscalingv1.HorizontalPodAutoscalerList{},
			Default: defaultV1,
			ToHub:   fromV1,
			FromHub: toV1,
		}.Build()},
	}.Build(features)
}
