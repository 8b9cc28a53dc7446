package autoscaling

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func quantity(s string) *resource.Quantity { return new(resource.MustParse(s)) }

// everything has a metric of each type, and all fields that v1 does not have.
func everything() *autoscalingv2.HorizontalPodAutoscaler {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	ref := autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "d", APIVersion: "apps/v1"}
	average := func(q string) autoscalingv2.MetricTarget {
		return autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: quantity(q)}
	}
	used := autoscalingv2.MetricValueStatus{AverageValue: quantity("5"), AverageUtilization: new(int32(20))}
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "m", Annotations: map[string]string{"own": "1"}},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: ref, MinReplicas: new(int32(1)), MaxReplicas: 3,
			Metrics: []autoscalingv2.MetricSpec{
				{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{
					Metric: autoscalingv2.MetricIdentifier{Name: "hits", Selector: selector}, Target: average("100m")}},
				{Type: autoscalingv2.ObjectMetricSourceType, Object: &autoscalingv2.ObjectMetricSource{
					DescribedObject: ref, Metric: autoscalingv2.MetricIdentifier{Name: "queue"},
					Target: autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: quantity("2k")}}},
				{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
					Metric: autoscalingv2.MetricIdentifier{Name: "mail", Selector: selector}, Target: average("7")}},
				{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
					Name: corev1.ResourceMemory, Target: average("1Gi")}},
				{Type: autoscalingv2.ContainerResourceMetricSourceType, ContainerResource: &autoscalingv2.ContainerResourceMetricSource{
					Name: corev1.ResourceCPU, Container: "c",
					Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(60))}}},
				cpuMetric(70),
			},
			Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{
				StabilizationWindowSeconds: new(int32(30)), SelectPolicy: new(autoscalingv2.MinChangePolicySelect),
				Policies: []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PodsScalingPolicy, Value: 1, PeriodSeconds: 60}},
			}},
		},
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			CurrentReplicas: 2, DesiredReplicas: 3, ObservedGeneration: new(int64(4)),
			CurrentMetrics: []autoscalingv2.MetricStatus{
				{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricStatus{
					Metric: autoscalingv2.MetricIdentifier{Name: "hits"}, Current: autoscalingv2.MetricValueStatus{AverageValue: quantity("1")}}},
				{Type: autoscalingv2.ObjectMetricSourceType, Object: &autoscalingv2.ObjectMetricStatus{
					DescribedObject: ref, Metric: autoscalingv2.MetricIdentifier{Name: "queue"}, Current: autoscalingv2.MetricValueStatus{Value: quantity("1k")}}},
				{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricStatus{
					Metric: autoscalingv2.MetricIdentifier{Name: "mail"}, Current: autoscalingv2.MetricValueStatus{Value: quantity("0"), AverageValue: quantity("3")}}},
				{Type: autoscalingv2.ContainerResourceMetricSourceType, ContainerResource: &autoscalingv2.ContainerResourceMetricStatus{
					Name: corev1.ResourceCPU, Container: "c", Current: used}},
				{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricStatus{Name: corev1.ResourceCPU, Current: used}},
			},
			Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionTrue, Reason: "R"}},
		},
	}
}

func TestConversionThroughV1RoundTrips(t *testing.T) {
	before := everything()
	defaultAutoscaler(before)
	untouched := before.DeepCopy()
	v1, err := toV1(before)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(untouched, before); diff != "" {
		t.Errorf("toV1 changed its argument:\n%s", diff)
	}
	if *v1.Spec.TargetCPUUtilizationPercentage != 70 || *v1.Status.CurrentCPUUtilizationPercentage != 20 {
		t.Errorf("cpu: %d%% of %d%%", *v1.Status.CurrentCPUUtilizationPercentage, *v1.Spec.TargetCPUUtilizationPercentage)
	}
	sent := v1.DeepCopy()
	after := fromV1(v1)
	if diff := cmp.Diff(sent, v1); diff != "" {
		t.Errorf("fromV1 changed its argument:\n%s", diff)
	}
	if !equality.Semantic.DeepEqual(before, after) {
		t.Errorf("(-before +after):\n%s", cmp.Diff(before, after))
	}
}

func TestBehaviorAnnotationMatchesKubeAPIServer(t *testing.T) {
	v1, err := toV1(everything())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":30,"SelectPolicy":"Min",` +
		`"Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":60}],"Tolerance":null}}`
	if got := v1.Annotations[behaviorAnnotation]; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestV1Defaults(t *testing.T) {
	for _, tc := range []struct {
		name        string
		annotations map[string]string
		target      *int32
		want        []autoscalingv2.MetricSpec
	}{
		{"no metric at all means cpu", nil, nil, []autoscalingv2.MetricSpec{cpuMetric(80)}},
		{"what it names", nil, new(int32(50)), []autoscalingv2.MetricSpec{cpuMetric(50)}},
		{"an annotation that cannot be read is not there", map[string]string{metricsAnnotation: "{"}, nil, []autoscalingv2.MetricSpec{cpuMetric(80)}},
	} {
		got := fromV1(&autoscalingv1.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Annotations: tc.annotations},
			Spec:       autoscalingv1.HorizontalPodAutoscalerSpec{TargetCPUUtilizationPercentage: tc.target},
		})
		if diff := cmp.Diff(tc.want, got.Spec.Metrics); diff != "" || len(got.Annotations) != 0 {
			t.Errorf("%s: annotations %v, metrics (-want +got):\n%s", tc.name, got.Annotations, diff)
		}
	}
}
