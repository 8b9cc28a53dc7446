package autoscaling

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/miniapi/miniapi/kinds/kind"
)

// defaultUtilization is the target of an autoscaler without metrics.
const defaultUtilization = 80

func defaultAutoscaler(h *autoscalingv2.HorizontalPodAutoscaler) {
	kind.SetDefaultPointer(&h.Spec.MinReplicas, 1)
	defaultMetrics(h)
	if behavior := h.Spec.Behavior; behavior != nil {
		kind.SetDefaultPointer(&behavior.ScaleUp, autoscalingv2.HPAScalingRules{})
		kind.SetDefaultPointer(&behavior.ScaleDown, autoscalingv2.HPAScalingRules{})
		defaultScaleUp(behavior.ScaleUp)
		defaultScaleDown(behavior.ScaleDown)
	}
}

func defaultMetrics(h *autoscalingv2.HorizontalPodAutoscaler) {
	if len(h.Spec.Metrics) == 0 {
		h.Spec.Metrics = []autoscalingv2.MetricSpec{cpuMetric(defaultUtilization)}
	}
}

// defaultV1 leaves the metrics to the hub: some of them are in annotations.
func defaultV1(h *autoscalingv1.HorizontalPodAutoscaler) {
	kind.SetDefaultPointer(&h.Spec.MinReplicas, 1)
}

// defaultScaleUp doubles the pods or adds four of them every 15 seconds, without a delay.
func defaultScaleUp(rules *autoscalingv2.HPAScalingRules) {
	kind.SetDefaultPointer(&rules.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	kind.SetDefaultPointer(&rules.StabilizationWindowSeconds, 0)
	if rules.Policies == nil {
		rules.Policies = []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15},
			{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
		}
	}
}

// defaultScaleDown removes all superfluous pods after the controller's own stabilization window.
func defaultScaleDown(rules *autoscalingv2.HPAScalingRules) {
	kind.SetDefaultPointer(&rules.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if rules.Policies == nil {
		rules.Policies = []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
		}
	}
}
