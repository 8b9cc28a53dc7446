package autoscaling

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestMetricsCell(t *testing.T) {
	type (
		spec   = autoscalingv2.MetricSpec
		status = autoscalingv2.MetricStatus
		value  = autoscalingv2.MetricValueStatus
		target = autoscalingv2.MetricTarget
	)
	five, ten := new(resource.MustParse("5")), new(resource.MustParse("10"))
	external := func(t target) spec {
		return spec{Type: "External", External: &autoscalingv2.ExternalMetricSource{Target: t}}
	}
	externally := func(v value) []status {
		return []status{{External: &autoscalingv2.ExternalMetricStatus{Current: v}}}
	}
	pods := spec{Type: "Pods", Pods: &autoscalingv2.PodsMetricSource{Target: target{AverageValue: ten}}}
	object := spec{Type: "Object", Object: &autoscalingv2.ObjectMetricSource{Target: target{AverageValue: ten}}}
	cpu := spec{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: target{AverageUtilization: new(int32(80))}}}
	container := spec{Type: "ContainerResource", ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: "memory", Target: target{AverageValue: ten}}}
	for _, c := range []struct {
		rule     string
		specs    []spec
		statuses []status
		want     string
	}{
		{"no metrics", nil, nil, "<none>"},
		{"no current value", []spec{external(target{Value: ten})}, nil, "<unknown>/10"},
		{"a value", []spec{external(target{Value: ten})}, externally(value{Value: five}), "5/10"},
		{"another value", []spec{external(target{Value: ten})}, externally(value{AverageValue: five}), "<nil>/10"},
		{"on average", []spec{external(target{AverageValue: ten})}, externally(value{AverageValue: five}), "5/10 (avg)"},
		{"no current average", []spec{external(target{AverageValue: ten})}, externally(value{Value: five}), "<unknown>/10 (avg)"},
		{"of an object", []spec{object}, []status{{Object: &autoscalingv2.ObjectMetricStatus{Current: value{AverageValue: five}}}}, "5/10 (avg)"},
		{"of pods", []spec{pods}, []status{{Pods: &autoscalingv2.PodsMetricStatus{Current: value{AverageValue: five}}}}, "5/10"},
		{"utilization", []spec{cpu}, []status{{Resource: &autoscalingv2.ResourceMetricStatus{Current: value{AverageUtilization: new(int32(60))}}}}, "cpu: 60%/80%"},
		{"of a container", []spec{container}, []status{{ContainerResource: &autoscalingv2.ContainerResourceMetricStatus{Current: value{AverageValue: five}}}}, "memory: 5/10"},
		{"two metrics are shown", []spec{pods, cpu, container}, nil, "<unknown>/10, cpu: <unknown>/80% + 1 more..."},
		{"of an unknown type", []spec{{Type: "New"}}, nil, "<unknown type>"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := metricsCell(c.specs, c.statuses); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
