package autoscaling

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateMetrics(s *autoscalingv2.HorizontalPodAutoscalerSpec, described groups, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	measured := false // a metric that exists without pods
	for i := range s.Metrics {
		errs = append(errs, validateMetric(&s.Metrics[i], described, at.Index(i))...)
		switch s.Metrics[i].Type {
		case autoscalingv2.ObjectMetricSourceType, autoscalingv2.ExternalMetricSourceType:
			measured = true
		}
	}
	if n := s.MinReplicas; n != nil && *n == 0 && !measured {
		errs = append(errs, field.Forbidden(at, "must specify at least one Object or External metric to support scaling to zero replicas"))
	}
	return errs
}

// source is one of the sources of a metric, one of which its type requires.
type source struct {
	name     string
	typ      autoscalingv2.MetricSourceType
	set      bool
	validate func(at *field.Path) field.ErrorList
}

func sourcesOf(m *autoscalingv2.MetricSpec, described groups) []source {
	return []source{
		{"object", autoscalingv2.ObjectMetricSourceType, m.Object != nil,
			func(at *field.Path) field.ErrorList { return validateObject(m.Object, described, at) }},
		{"external", autoscalingv2.ExternalMetricSourceType, m.External != nil, func(at *field.Path) field.ErrorList { return validateExternal(m.External, at) }},
		{"pods", autoscalingv2.PodsMetricSourceType, m.Pods != nil, func(at *field.Path) field.ErrorList { return validatePods(m.Pods, at) }},
		{"resource", autoscalingv2.ResourceMetricSourceType, m.Resource != nil, func(at *field.Path) field.ErrorList { return validateResource(m.Resource, at) }},
		{"containerResource", autoscalingv2.ContainerResourceMetricSourceType, m.ContainerResource != nil,
			func(at *field.Path) field.ErrorList { return validateContainerResource(m.ContainerResource, at) }},
	}
}

// validateMetric reports an unknown type twice, and validates the first source only: so does
// kube-apiserver.
func validateMetric(m *autoscalingv2.MetricSpec, described groups, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if m.Type == "" {
		errs = append(errs, field.Required(at.Child("type"), "must specify a metric source type"))
	}
	unknown := kind.Supported(at.Child("type"), m.Type, autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.ExternalMetricSourceType,
		autoscalingv2.ObjectMetricSourceType, autoscalingv2.PodsMetricSourceType, autoscalingv2.ResourceMetricSourceType)
	errs = append(errs, unknown...)
	var present []source
	for _, s := range sourcesOf(m, described) {
		if s.set && len(present) == 0 {
			errs = append(errs, s.validate(at.Child(s.name))...)
		}
		if s.set {
			present = append(present, s)
		}
		if s.typ == m.Type && !s.set {
			errs = append(errs, field.Required(at.Child(s.name), "must populate information for the given metric source"))
		}
	}
	errs = append(errs, unknown...)
	for _, s := range present {
		if len(present) > 1 && s.typ != m.Type {
			errs = append(errs, field.Forbidden(at.Child(s.name), "must populate the given metric source only"))
		}
	}
	return errs
}

func validateObject(m *autoscalingv2.ObjectMetricSource, described groups, at *field.Path) field.ErrorList {
	target := at.Child("target")
	errs := slices.Concat(
		validateTarget(m.DescribedObject, described, at.Child("describedObject")),
		validateIdentifier(m.Metric, at.Child("metric")),
		validateMetricTarget(m.Target, target),
	)
	if m.Target.Value == nil && m.Target.AverageValue == nil {
		errs = append(errs, field.Required(target.Child("averageValue"), "must set either a target value or averageValue"))
	}
	return errs
}

func validateExternal(m *autoscalingv2.ExternalMetricSource, at *field.Path) field.ErrorList {
	target := at.Child("target")
	errs := slices.Concat(validateIdentifier(m.Metric, at.Child("metric")), validateMetricTarget(m.Target, target))
	switch total, average := m.Target.Value != nil, m.Target.AverageValue != nil; {
	case !total && !average:
		errs = append(errs, field.Required(target.Child("averageValue"), "must set either a target value for metric or a per-pod target"))
	case total && average:
		errs = append(errs, field.Forbidden(target.Child("value"), "may not set both a target value for metric and a per-pod target"))
	}
	return errs
}

func validatePods(m *autoscalingv2.PodsMetricSource, at *field.Path) field.ErrorList {
	target := at.Child("target")
	errs := slices.Concat(validateIdentifier(m.Metric, at.Child("metric")), validateMetricTarget(m.Target, target))
	if m.Target.AverageValue == nil {
		errs = append(errs, field.Required(target.Child("averageValue"), "must specify a positive target averageValue"))
	}
	return errs
}

func validateResource(m *autoscalingv2.ResourceMetricSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if m.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), "must specify a resource name"))
	}
	return append(errs, validateUsage(m.Target, at.Child("target"))...)
}

func validateContainerResource(m *autoscalingv2.ContainerResourceMetricSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if m.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), "must specify a resource name"))
	} else {
		errs = append(errs, podspec.ValidateContainerResourceName(m.Name, at.Child("name"))...)
	}
	if m.Container == "" {
		errs = append(errs, field.Required(at.Child("container"), "must specify a container"))
	} else {
		errs = append(errs, kind.Invalid(at.Child("container"), m.Container, utilvalidation.IsDNS1123Label(m.Container))...)
	}
	return append(errs, validateUsage(m.Target, at.Child("target"))...)
}

// validateUsage validates the target for a resource: an average value or a utilization.
func validateUsage(t autoscalingv2.MetricTarget, at *field.Path) field.ErrorList {
	errs := validateMetricTarget(t, at)
	switch share, amount := t.AverageUtilization != nil, t.AverageValue != nil; {
	case !share && !amount:
		errs = append(errs, field.Required(at.Child("averageUtilization"), "must set either a target raw value or a target utilization"))
	case share && amount:
		errs = append(errs, field.Forbidden(at.Child("averageValue"), "may not set both a target raw value and a target utilization"))
	}
	return errs
}

func validateMetricTarget(t autoscalingv2.MetricTarget, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if t.Type == "" {
		errs = append(errs, field.Required(at.Child("type"), "must specify a metric target type"))
	}
	switch t.Type {
	case autoscalingv2.UtilizationMetricType, autoscalingv2.ValueMetricType, autoscalingv2.AverageValueMetricType:
	default:
		errs = append(errs, field.Invalid(at.Child("type"), t.Type, "must be either Utilization, Value, or AverageValue"))
	}
	positive := func(name string, q *resource.Quantity) {
		if q != nil && q.Sign() <= 0 {
			errs = append(errs, field.Invalid(at.Child(name), q, "must be positive"))
		}
	}
	positive("value", t.Value)
	positive("averageValue", t.AverageValue)
	if n := t.AverageUtilization; n != nil && *n < 1 {
		errs = append(errs, field.Invalid(at.Child("averageUtilization"), *n, "must be greater than 0"))
	}
	return errs
}

func validateIdentifier(id autoscalingv2.MetricIdentifier, at *field.Path) field.ErrorList {
	if id.Name == "" {
		return field.ErrorList{field.Required(at.Child("name"), "must specify a metric name")}
	}
	return kind.Invalid(at.Child("name"), id.Name, content.IsPathSegmentName(id.Name))
}
