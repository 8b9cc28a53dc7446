package autoscaling

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func newAutoscaler() *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"}, MaxReplicas: 1,
	}}
}

func validateNewest(a *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	return validateAutoscaler(a, feature.Default())
}

func TestAutoscalersScaleToZero(t *testing.T) {
	external := newAutoscaler()
	external.Spec.MinReplicas = new(int32(0))
	external.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "m"},
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: new(resource.MustParse("1"))},
	}}}
	for release, want := range map[feature.Release]string{
		36: "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
		37: "",
	} {
		got := ""
		if err := validateAutoscaler(external, feature.At(release)).ToAggregate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", release, got, want)
		}
	}
}

func TestAutoscalers(t *testing.T) {
	check := registrytest.Rules(t, newAutoscaler, validateNewest)
	check("maxReplicas is not less than minReplicas", func(a *autoscalingv2.HorizontalPodAutoscaler) {
		a.Spec.MinReplicas, a.Spec.MaxReplicas = new(int32(3)), 2
	}, "spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`")
	check("replicas are positive and the target is required", func(a *autoscalingv2.HorizontalPodAutoscaler) {
		a.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{MinReplicas: new(int32(0))}
	},
		"spec.maxReplicas: Required value: must be set and greater than 0",
		"spec.scaleTargetRef.kind: Required value",
		"spec.scaleTargetRef.name: Required value",
		`spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group`,
		"spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas")
	check("target names are path segments", func(a *autoscalingv2.HorizontalPodAutoscaler) { a.Spec.ScaleTargetRef.Name = ".." },
		`spec.scaleTargetRef.name: Invalid value: "..": may not be '..'`)
	core := func(a *autoscalingv2.HorizontalPodAutoscaler) {
		a.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "v1", Kind: "ReplicationController", Name: "r"}
	}
	check("a replication controller of the core group", core)
	check("API versions have at most two parts", func(a *autoscalingv2.HorizontalPodAutoscaler) {
		core(a)
		a.Spec.ScaleTargetRef.APIVersion = "a/b/c"
	}, `spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`)
}

func TestAutoscalersKeepTheirTarget(t *testing.T) {
	without := func() *autoscalingv2.HorizontalPodAutoscaler {
		a := newAutoscaler()
		a.Spec.ScaleTargetRef.APIVersion = ""
		return a
	}
	check := registrytest.Rules(t, without, func(a *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
		return validateAutoscalerUpdate(a, without(), feature.Default())
	})
	check("the target name is mutable", func(a *autoscalingv2.HorizontalPodAutoscaler) { a.Spec.ScaleTargetRef.Name = "e" })
	check("the target kind is immutable if it is not scalable", func(a *autoscalingv2.HorizontalPodAutoscaler) { a.Spec.ScaleTargetRef.Kind = "ReplicaSet" },
		`spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group`)
}

func TestAutoscalersKeepZeroMinReplicas(t *testing.T) {
	none := newAutoscaler()
	none.Spec.MinReplicas = new(int32(0))
	none.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: "External", External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "queue"},
		Target: autoscalingv2.MetricTarget{Type: "Value", Value: new(resource.MustParse("5"))},
	}}}
	if got := registrytest.Texts(validateAutoscalerUpdate(none, none, feature.At(36))); got != nil {
		t.Errorf("one that did already: %q", got)
	}
	if got := registrytest.Texts(validateAutoscalerUpdate(none, newAutoscaler(), feature.At(36))); len(got) != 1 {
		t.Errorf("one that did not: %q", got)
	}
}

func TestBehavior(t *testing.T) {
	valid := func() *autoscalingv2.HorizontalPodAutoscaler {
		a := newAutoscaler()
		a.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{
			StabilizationWindowSeconds: new(int32(60)), SelectPolicy: new(autoscalingv2.MaxChangePolicySelect),
			Policies: []autoscalingv2.HPAScalingPolicy{{Type: "Pods", Value: 1, PeriodSeconds: 15}},
		}}
		return a
	}
	down := func(change func(*autoscalingv2.HPAScalingRules)) func(*autoscalingv2.HorizontalPodAutoscaler) {
		return func(a *autoscalingv2.HorizontalPodAutoscaler) { change(a.Spec.Behavior.ScaleDown) }
	}
	const at = "spec.behavior.scaleDown."
	check := registrytest.Rules(t, valid, validateNewest)
	check("stabilization windows have a maximum", down(func(r *autoscalingv2.HPAScalingRules) { r.StabilizationWindowSeconds = new(int32(3601)) }),
		at+"stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600")
	check("stabilization windows are not negative", down(func(r *autoscalingv2.HPAScalingRules) { r.StabilizationWindowSeconds = new(int32(-1)) }),
		at+"stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero")
	check("a policy is required", down(func(r *autoscalingv2.HPAScalingRules) { r.Policies = nil }),
		at+"policies: Required value: must specify at least one Policy")
	check("policy selectors are known", down(func(r *autoscalingv2.HPAScalingRules) { r.SelectPolicy = new(autoscalingv2.ScalingPolicySelect("x")) }),
		at+`selectPolicy: Unsupported value: "x": supported values: "Disabled", "Max", "Min"`)
	check("an empty policy", down(func(r *autoscalingv2.HPAScalingRules) { r.Policies[0] = autoscalingv2.HPAScalingPolicy{} }),
		at+`policies[0].type: Unsupported value: "": supported values: "Percent", "Pods"`,
		at+"policies[0].value: Invalid value: 0: must be greater than zero",
		at+"policies[0].periodSeconds: Invalid value: 0: must be greater than zero")
	check("periods have a maximum", down(func(r *autoscalingv2.HPAScalingRules) { r.Policies[0].PeriodSeconds = 1801 }),
		at+"policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800")
	check("tolerances are not negative", down(func(r *autoscalingv2.HPAScalingRules) { r.Tolerance = new(resource.MustParse("-1")) }),
		at+`tolerance: Invalid value: "-1": must be greater than or equal to 0`)
}

func TestMetrics(t *testing.T) {
	const at = "spec.metrics[0]."
	validate := func(m *autoscalingv2.MetricSpec) field.ErrorList {
		a := newAutoscaler()
		a.Spec.Metrics = []autoscalingv2.MetricSpec{*m}
		return validateNewest(a)
	}
	valid := func() *autoscalingv2.MetricSpec {
		return &autoscalingv2.MetricSpec{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{
			Name: "cpu", Target: autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: new(int32(50))},
		}}
	}
	check := registrytest.Rules(t, valid, validate)
	const known = `supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`
	check("type is required, reported three times as by kube-apiserver", func(m *autoscalingv2.MetricSpec) { *m = autoscalingv2.MetricSpec{} },
		at+"type: Required value: must specify a metric source type",
		at+`type: Unsupported value: "": `+known, at+`type: Unsupported value: "": `+known)
	check("the source of the type is required", func(m *autoscalingv2.MetricSpec) { *m = autoscalingv2.MetricSpec{Type: "Pods"} },
		at+"pods: Required value: must populate information for the given metric source")
	check("only the source of the type is allowed", func(m *autoscalingv2.MetricSpec) { m.Pods = &autoscalingv2.PodsMetricSource{} },
		at+"pods.metric.name: Required value: must specify a metric name",
		at+"pods.target.type: Required value: must specify a metric target type",
		at+`pods.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue`,
		at+"pods.target.averageValue: Required value: must specify a positive target averageValue",
		at+"pods: Forbidden: must populate the given metric source only")
	check("a resource has a name and a target", func(m *autoscalingv2.MetricSpec) {
		m.Resource = &autoscalingv2.ResourceMetricSource{Target: autoscalingv2.MetricTarget{Type: "Value"}}
	},
		at+"resource.name: Required value: must specify a resource name",
		at+"resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization")
	check("a target has one value", func(m *autoscalingv2.MetricSpec) { m.Resource.Target.AverageValue = new(resource.MustParse("0")) },
		at+`resource.target.averageValue: Invalid value: "0": must be positive`,
		at+"resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization")
	check("averageUtilization is positive", func(m *autoscalingv2.MetricSpec) { m.Resource.Target.AverageUtilization = new(int32(0)) },
		at+"resource.target.averageUtilization: Invalid value: 0: must be greater than 0")
	check("a container resource has a name, a container and a target", func(m *autoscalingv2.MetricSpec) {
		m.Type, m.ContainerResource, m.Resource = "ContainerResource", &autoscalingv2.ContainerResourceMetricSource{Name: "cpu", Target: m.Resource.Target}, nil
	}, at+"containerResource.container: Required value: must specify a container")
	check("an object has a kind and a name", func(m *autoscalingv2.MetricSpec) {
		m.Type, m.Object, m.Resource = "Object", &autoscalingv2.ObjectMetricSource{Target: autoscalingv2.MetricTarget{Type: "Value"}}, nil
	},
		at+"object.describedObject.kind: Required value", at+"object.describedObject.name: Required value",
		at+"object.metric.name: Required value: must specify a metric name",
		at+"object.target.averageValue: Required value: must set either a target value or averageValue")
	check("an external metric has one target", func(m *autoscalingv2.MetricSpec) {
		one := resource.MustParse("1")
		m.Type, m.Resource = "External", nil
		m.External = &autoscalingv2.ExternalMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: "a/b"},
			Target: autoscalingv2.MetricTarget{Type: "Value", Value: &one, AverageValue: &one}}
	},
		at+`external.metric.name: Invalid value: "a/b": may not contain '/'`,
		at+"external.target.value: Forbidden: may not set both a target value for metric and a per-pod target")
}
