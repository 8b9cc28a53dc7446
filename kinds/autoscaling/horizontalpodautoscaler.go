package autoscaling

import (
	"fmt"
	"strconv"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func horizontalPodAutoscalers() *registry.Resource {
	return kind.Definition[*autoscalingv2.HorizontalPodAutoscaler]{
		GroupVersion:             autoscalingv2.SchemeGroupVersion,
		Object:                   &autoscalingv2.HorizontalPodAutoscaler{},
		List:                     &autoscalingv2.HorizontalPodAutoscalerList{},
		Resource:                 "horizontalpodautoscalers",
		Finalizers:               kind.Finalizers,
		Default:                  defaultAutoscaler,
		Restore:                  defaultAutoscaler, // version 1 writes behavior as it comes
		ShortNames:               []string{"hpa"},
		Categories:               []string{"all"},
		Namespaced:               true,
		Status:                   true,
		ValidateCreate:           validateAutoscaler,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           validateAutoscalerUpdate,
		ValidateStatusUpdate:     validateStatus,
		Columns:                  columns(),
		MoreVersions: []registry.Version{kind.Version[*autoscalingv2.HorizontalPodAutoscaler, *autoscalingv1.HorizontalPodAutoscaler]{
			Name:    autoscalingv1.SchemeGroupVersion.Version,
			Object:  &autoscalingv1.HorizontalPodAutoscaler{},
			List:    &autoscalingv1.HorizontalPodAutoscalerList{},
			Default: defaultV1,
			ToHub:   fromV1,
			FromHub: toV1,
		}.Build()},
	}.Build()
}

func columns() []kind.Column[*autoscalingv2.HorizontalPodAutoscaler] {
	spec, status := autoscalingv2.HorizontalPodAutoscalerSpec{}.SwaggerDoc(), autoscalingv2.HorizontalPodAutoscalerStatus{}.SwaggerDoc()
	return []kind.Column[*autoscalingv2.HorizontalPodAutoscaler]{
		kind.NameColumn[*autoscalingv2.HorizontalPodAutoscaler](),
		{
			Name:        "Reference",
			Description: spec["scaleTargetRef"],
			Cell: func(h *autoscalingv2.HorizontalPodAutoscaler) any {
				return fmt.Sprintf("%s/%s", h.Spec.ScaleTargetRef.Kind, h.Spec.ScaleTargetRef.Name)
			},
		},
		{
			Name:        "Targets",
			Description: spec["metrics"],
			Cell: func(h *autoscalingv2.HorizontalPodAutoscaler) any {
				return metricsCell(h.Spec.Metrics, h.Status.CurrentMetrics)
			},
		},
		{
			Name:        "MinPods",
			Description: spec["minReplicas"],
			Cell:        func(h *autoscalingv2.HorizontalPodAutoscaler) any { return minPodsCell(h.Spec.MinReplicas) },
		},
		{
			Name:        "MaxPods",
			Description: spec["maxReplicas"],
			Cell:        func(h *autoscalingv2.HorizontalPodAutoscaler) any { return int64(h.Spec.MaxReplicas) },
		},
		{
			Name:        "Replicas",
			Description: status["currentReplicas"],
			Cell:        func(h *autoscalingv2.HorizontalPodAutoscaler) any { return int64(h.Status.CurrentReplicas) },
		},
		kind.AgeColumn[*autoscalingv2.HorizontalPodAutoscaler](),
	}
}

func minPodsCell(replicas *int32) string {
	if replicas == nil {
		return "<unset>"
	}
	return strconv.Itoa(int(*replicas))
}
