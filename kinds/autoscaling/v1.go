package autoscaling

import (
	"encoding/json"
	"fmt"
	"maps"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// v1 has no fields but the utilization of the cpu. All other fields are stored in annotations, as
// JSON, so that they survive a client that reads and writes v1.
const (
	metricsAnnotation        = "autoscaling.alpha.kubernetes.io/metrics"
	currentMetricsAnnotation = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsAnnotation     = "autoscaling.alpha.kubernetes.io/conditions"
	behaviorAnnotation       = "autoscaling.alpha.kubernetes.io/behavior"
	scaleDownAnnotation      = "autoscaling.alpha.kubernetes.io/scale-down-tolerance"
	scaleUpAnnotation        = "autoscaling.alpha.kubernetes.io/scale-up-tolerance"
)

func fromV1(in *autoscalingv1.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	out := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: in.ObjectMeta,
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(in.Spec.ScaleTargetRef),
			MinReplicas:    in.Spec.MinReplicas,
			MaxReplicas:    in.Spec.MaxReplicas,
		},
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			ObservedGeneration: in.Status.ObservedGeneration,
			LastScaleTime:      in.Status.LastScaleTime,
			CurrentReplicas:    in.Status.CurrentReplicas,
			DesiredReplicas:    in.Status.DesiredReplicas,
		},
	}
	if percent := in.Status.CurrentCPUUtilizationPercentage; percent != nil {
		out.Status.CurrentMetrics = []autoscalingv2.MetricStatus{cpuStatus(*percent)}
	}
	readAnnotations(in.Annotations, out)
	if percent := in.Spec.TargetCPUUtilizationPercentage; percent != nil {
		out.Spec.Metrics = append(out.Spec.Metrics, cpuMetric(*percent))
	}
	defaultMetrics(out) // all metrics are known now
	out.Annotations = withoutRoundTrip(in.Annotations)
	return out
}

// readAnnotations ignores annotations that it cannot parse: clients may write them.
func readAnnotations(annotations map[string]string, out *autoscalingv2.HorizontalPodAutoscaler) {
	if metrics, ok := parse[[]autoscalingv1.MetricSpec](annotations, metricsAnnotation); ok {
		out.Spec.Metrics = convertAll(metrics, metricFromV1)
	}
	if b, ok := parse[behavior](annotations, behaviorAnnotation); ok && b != (behavior{}) {
		out.Spec.Behavior = b.toHub()
	}
	if metrics, ok := parse[[]autoscalingv1.MetricStatus](annotations, currentMetricsAnnotation); ok {
		out.Status.CurrentMetrics = convertAll(metrics, metricStatusFromV1)
	}
	if conditions, ok := parse[[]autoscalingv1.HorizontalPodAutoscalerCondition](annotations, conditionsAnnotation); ok {
		out.Status.Conditions = convertAll(conditions, func(c autoscalingv1.HorizontalPodAutoscalerCondition) autoscalingv2.HorizontalPodAutoscalerCondition {
			return autoscalingv2.HorizontalPodAutoscalerCondition{
				Type:               autoscalingv2.HorizontalPodAutoscalerConditionType(c.Type),
				Status:             c.Status,
				LastTransitionTime: c.LastTransitionTime,
				Reason:             c.Reason,
				Message:            c.Message,
				ObservedGeneration: c.ObservedGeneration,
			}
		})
	}
}

func toV1(in *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv1.HorizontalPodAutoscaler, error) {
	out := &autoscalingv1.HorizontalPodAutoscaler{
		ObjectMeta: in.ObjectMeta,
		Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv1.CrossVersionObjectReference(in.Spec.ScaleTargetRef),
			MinReplicas:    in.Spec.MinReplicas,
			MaxReplicas:    in.Spec.MaxReplicas,
		},
		Status: autoscalingv1.HorizontalPodAutoscalerStatus{
			ObservedGeneration: in.Status.ObservedGeneration,
			LastScaleTime:      in.Status.LastScaleTime,
			CurrentReplicas:    in.Status.CurrentReplicas,
			DesiredReplicas:    in.Status.DesiredReplicas,
		},
	}
	for _, m := range in.Spec.Metrics {
		if m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil && m.Resource.Name == corev1.ResourceCPU {
			out.Spec.TargetCPUUtilizationPercentage = m.Resource.Target.AverageUtilization
			break
		}
	}
	for _, m := range in.Status.CurrentMetrics {
		if m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil && m.Resource.Name == corev1.ResourceCPU &&
			m.Resource.Current.AverageUtilization != nil {
			out.Status.CurrentCPUUtilizationPercentage = m.Resource.Current.AverageUtilization
		}
	}
	var err error
	out.Annotations, err = writeAnnotations(in)
	return out, err
}

// writeAnnotations returns the annotations of an autoscaler in v1.
func writeAnnotations(in *autoscalingv2.HorizontalPodAutoscaler) (map[string]string, error) {
	var others []autoscalingv1.MetricSpec
	for _, m := range in.Spec.Metrics {
		if !isCPUUtilization(m) {
			others = append(others, metricToV1(m))
		}
	}
	annotations := withoutRoundTrip(in.Annotations)
	add := func(key string, value any) error {
		data, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("annotation %s: %w", key, err)
		}
		copied := make(map[string]string, len(annotations)+1)
		maps.Copy(copied, annotations)
		copied[key] = string(data)
		annotations = copied
		return nil
	}
	var err error
	if len(others) > 0 {
		err = add(metricsAnnotation, others)
	}
	if len(in.Status.CurrentMetrics) > 0 && err == nil {
		err = add(currentMetricsAnnotation, convertAll(in.Status.CurrentMetrics, metricStatusToV1))
	}
	if in.Spec.Behavior != nil && err == nil {
		err = add(behaviorAnnotation, behaviorOf(in.Spec.Behavior))
	}
	if len(in.Status.Conditions) > 0 && err == nil {
		err = add(conditionsAnnotation, in.Status.Conditions)
	}
	return annotations, err
}

func isCPUUtilization(m autoscalingv2.MetricSpec) bool {
	return m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil &&
		m.Resource.Name == corev1.ResourceCPU && m.Resource.Target.AverageUtilization != nil
}

// withoutRoundTrip returns the annotations without those that hold fields. It does not copy
// annotations that have none.
func withoutRoundTrip(annotations map[string]string) map[string]string {
	rest := maps.Clone(annotations)
	for _, key := range []string{
		metricsAnnotation, currentMetricsAnnotation, conditionsAnnotation, behaviorAnnotation, scaleDownAnnotation, scaleUpAnnotation,
	} {
		delete(rest, key)
	}
	if len(rest) == len(annotations) {
		return annotations
	}
	return rest
}

// parse parses an annotation. It returns false for one that is missing or malformed.
func parse[T any](annotations map[string]string, key string) (value T, ok bool) {
	data, ok := annotations[key]
	return value, ok && json.Unmarshal([]byte(data), &value) == nil
}

func convertAll[In, Out any](list []In, convert func(In) Out) []Out {
	result := make([]Out, len(list))
	for i := range list {
		result[i] = convert(list[i])
	}
	return result
}
