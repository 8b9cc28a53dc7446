package autoscaling

import (
	"fmt"
	"strconv"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/miniapi/miniapi/kinds/kind"
)

// metricsCell shows the first two metrics, each as current/target.
func metricsCell(specs []autoscalingv2.MetricSpec, statuses []autoscalingv2.MetricStatus) string {
	const shown = 2
	if len(specs) == 0 {
		return kind.None
	}
	var list []string
	for i := range specs {
		// A controller that has not read all metrics yet reports fewer.
		var status autoscalingv2.MetricStatus
		if i < len(statuses) {
			status = statuses[i]
		}
		list = append(list, metricCell(&specs[i], &status))
	}
	if len(list) > shown {
		return fmt.Sprintf("%s + %d more...", strings.Join(list[:shown], ", "), len(list)-shown)
	}
	return strings.Join(list, ", ")
}

func metricCell(spec *autoscalingv2.MetricSpec, status *autoscalingv2.MetricStatus) string {
	var current *autoscalingv2.MetricValueStatus // nil: not read yet
	switch {
	case spec.Type == autoscalingv2.ExternalMetricSourceType && spec.External != nil:
		if status.External != nil {
			current = &status.External.Current
		}
		return valueCell(spec.External.Target, current)
	case spec.Type == autoscalingv2.ObjectMetricSourceType && spec.Object != nil:
		if status.Object != nil {
			current = &status.Object.Current
		}
		return valueCell(spec.Object.Target, current)
	case spec.Type == autoscalingv2.PodsMetricSourceType && spec.Pods != nil:
		if status.Pods != nil {
			current = &status.Pods.Current
		}
		return averageCell(current) + "/" + spec.Pods.Target.AverageValue.String()
	case spec.Type == autoscalingv2.ResourceMetricSourceType && spec.Resource != nil:
		if status.Resource != nil {
			current = &status.Resource.Current
		}
		return resourceCell(string(spec.Resource.Name), spec.Resource.Target, current)
	case spec.Type == autoscalingv2.ContainerResourceMetricSourceType && spec.ContainerResource != nil:
		if status.ContainerResource != nil {
			current = &status.ContainerResource.Current
		}
		return resourceCell(string(spec.ContainerResource.Name), spec.ContainerResource.Target, current)
	default:
		return "<unknown type>"
	}
}

const unknown = "<unknown>"

// valueCell shows a metric with an absolute value or an average over the pods. A missing absolute
// value shows as the nil quantity does.
func valueCell(target autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) string {
	cell := unknown
	switch {
	case target.AverageValue == nil && current != nil:
		cell = current.Value.String()
	case target.AverageValue != nil && current != nil && current.AverageValue != nil:
		cell = current.AverageValue.String()
	}
	if target.AverageValue != nil {
		return cell + "/" + target.AverageValue.String() + " (avg)"
	}
	return cell + "/" + target.Value.String()
}

// resourceCell shows a metric with an average value or utilization.
func resourceCell(name string, target autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) string {
	if target.AverageValue != nil {
		return fmt.Sprintf("%s: %s/%s", name, averageCell(current), target.AverageValue.String())
	}
	var used *int32
	if current != nil {
		used = current.AverageUtilization
	}
	return fmt.Sprintf("%s: %s/%s", name, percentCell(used, unknown), percentCell(target.AverageUtilization, "<auto>"))
}

func averageCell(current *autoscalingv2.MetricValueStatus) string {
	if current == nil {
		return unknown
	}
	return current.AverageValue.String()
}

func percentCell(percent *int32, otherwise string) string {
	if percent == nil {
		return otherwise
	}
	return fmt.Sprintf("%d%%", *percent)
}

func columns() []kind.Column[*autoscalingv2.HorizontalPodAutoscaler] {
	spec, status := autoscalingv2.HorizontalPodAutoscalerSpec{}.SwaggerDoc(), autoscalingv2.HorizontalPodAutoscalerStatus{}.SwaggerDoc()
	return kind.StandardColumns(
		kind.TextColumn("Reference", spec["scaleTargetRef"], func(h *autoscalingv2.HorizontalPodAutoscaler) any {
			return fmt.Sprintf("%s/%s", h.Spec.ScaleTargetRef.Kind, h.Spec.ScaleTargetRef.Name)
		}),
		kind.TextColumn("Targets", spec["metrics"], func(h *autoscalingv2.HorizontalPodAutoscaler) any {
			return metricsCell(h.Spec.Metrics, h.Status.CurrentMetrics)
		}),
		kind.TextColumn("MinPods", spec["minReplicas"],
			func(h *autoscalingv2.HorizontalPodAutoscaler) any { return minPodsCell(h.Spec.MinReplicas) }),
		kind.TextColumn("MaxPods", spec["maxReplicas"],
			func(h *autoscalingv2.HorizontalPodAutoscaler) any { return int64(h.Spec.MaxReplicas) }),
		kind.TextColumn("Replicas", status["currentReplicas"],
			func(h *autoscalingv2.HorizontalPodAutoscaler) any { return int64(h.Status.CurrentReplicas) }),
	)
}

func minPodsCell(replicas *int32) string {
	if replicas == nil {
		return "<unset>"
	}
	return strconv.Itoa(int(*replicas))
}
