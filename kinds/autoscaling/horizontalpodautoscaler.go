package autoscaling

import (
	"fmt"
	"strconv"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func horizontalPodAutoscalers() *registry.Resource {
	return kind.Definition{
		GroupVersion: autoscalingv2.SchemeGroupVersion,
		Object:       &autoscalingv2.HorizontalPodAutoscaler{},
		List:         &autoscalingv2.HorizontalPodAutoscalerList{},
		Resource:     "horizontalpodautoscalers",
		Finalizers:   kind.Finalizers,
		Default:      kind.Defaults(defaultAutoscaler),
		Restore:      kind.Defaults(defaultAutoscaler), // version 1 writes behavior as it comes
		ShortNames:   []string{"hpa"},
		Categories:   []string{"all"},
		Namespaced:   true,
		Status:       true,
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{Validate: kind.CheckCreate(validateAutoscaler)},
			Update: registry.UpdateStrategy{AllowUnconditional: true, Validate: kind.CheckUpdate(validateAutoscalerUpdate)},
		},
		StatusStrategy: registry.UpdateStrategy{Validate: kind.CheckUpdate(validateStatus)},
		Columns:        registry.Columns{Definitions: columns(), Row: kind.Row(row)},
		MoreVersions: []registry.Version{{
			Name:    autoscalingv1.SchemeGroupVersion.Version,
			New:     func() runtime.Object { return &autoscalingv1.HorizontalPodAutoscaler{} },
			NewList: func() runtime.Object { return &autoscalingv1.HorizontalPodAutoscalerList{} },
			Default: kind.Defaults(defaultV1),
			ToHub: func(obj runtime.Object) (runtime.Object, error) {
				return fromV1(obj.(*autoscalingv1.HorizontalPodAutoscaler)), nil
			},
			FromHub: func(obj runtime.Object) (runtime.Object, error) {
				return toV1(obj.(*autoscalingv2.HorizontalPodAutoscaler))
			},
		}},
	}.Build()
}

func columns() []metav1.TableColumnDefinition {
	spec, status := autoscalingv2.HorizontalPodAutoscalerSpec{}.SwaggerDoc(), autoscalingv2.HorizontalPodAutoscalerStatus{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("Reference", "string", spec["scaleTargetRef"]),
		kind.Column("Targets", "string", spec["metrics"]),
		kind.Column("MinPods", "string", spec["minReplicas"]),
		kind.Column("MaxPods", "string", spec["maxReplicas"]),
		kind.Column("Replicas", "string", status["currentReplicas"]),
		kind.AgeColumn(),
	}
}

func row(h *autoscalingv2.HorizontalPodAutoscaler) []any {
	least := "<unset>"
	if h.Spec.MinReplicas != nil {
		least = strconv.Itoa(int(*h.Spec.MinReplicas))
	}
	return []any{
		h.Name, fmt.Sprintf("%s/%s", h.Spec.ScaleTargetRef.Kind, h.Spec.ScaleTargetRef.Name),
		metricsCell(h.Spec.Metrics, h.Status.CurrentMetrics), least, int64(h.Spec.MaxReplicas),
		int64(h.Status.CurrentReplicas), kind.Age(h.CreationTimestamp),
	}
}
