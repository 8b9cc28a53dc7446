package podspec

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// ValidateTemplate looks at a pod template after defaulting.
func ValidateTemplate(t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := ValidateTemplateMeta(t, at)
	errs = append(errs, Validate(&t.Spec, at.Child("spec"))...)
	if len(t.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(at.Child("spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template"))
	}
	return errs
}

// ValidateTemplateMeta looks at no more than the template's metadata.
func ValidateTemplateMeta(t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := metavalidation.ValidateLabels(t.Labels, at.Child("labels"))
	return append(errs, validation.ValidateAnnotations(t.Annotations, at.Child("annotations"))...)
}

// ValidateSelected looks at whether a workload would find the pods it makes.
func ValidateSelected(selector labels.Selector, t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	if selector.Empty() || selector.Matches(labels.Set(t.Labels)) {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("metadata", "labels"), t.Labels, "`selector` does not match template `labels`")}
}

// ValidateSelector looks at the selector of a workload and returns it as
// something that matches; false: it cannot be.
func ValidateSelector(s *metav1.LabelSelector, workload string, at *field.Path) (labels.Selector, field.ErrorList, bool) {
	var errs field.ErrorList
	if s == nil {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = metavalidation.ValidateLabelSelector(s, metavalidation.LabelSelectorValidationOptions{}, at)
		if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
			errs = append(errs, field.Invalid(at, s, "empty selector is invalid for "+workload))
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	return selector, errs, err == nil
}

// ValidateRunsForever holds for workloads that replace pods which end.
func ValidateRunsForever(t *corev1.PodTemplateSpec, workload string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	spec := at.Child("spec")
	if t.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(spec.Child("restartPolicy"), t.Spec.RestartPolicy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if t.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(spec.Child("activeDeadlineSeconds"), "activeDeadlineSeconds in "+workload+" is not Supported"))
	}
	return errs
}

// Validate looks at a pod spec after defaulting, but for its ephemeral
// containers. It knows the rules that people meet, not all of them.
func Validate(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	volumes, errs := validateVolumes(spec.Volumes, at.Child("volumes"))
	errs = append(errs, validateContainers(spec, volumes, at)...)
	errs = append(errs, validatePolicies(spec, at)...)
	errs = append(errs, metavalidation.ValidateLabels(spec.NodeSelector, at.Child("nodeSelector"))...)
	errs = append(errs, validateNames(spec, at)...)
	if s := spec.ActiveDeadlineSeconds; s != nil && (*s < 1 || *s > math.MaxInt32) {
		errs = append(errs, field.Invalid(at.Child("activeDeadlineSeconds"), *s, utilvalidation.InclusiveRangeError(1, math.MaxInt32)))
	}
	return append(errs, ValidateTolerations(spec.Tolerations, at.Child("tolerations"))...)
}

func validatePolicies(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	errs = append(errs, kind.OneOf(at.Child("restartPolicy"), spec.RestartPolicy,
		corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	return append(errs, kind.OneOf(at.Child("dnsPolicy"), spec.DNSPolicy,
		corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)...)
}

// validateNames looks at the names of other objects, and at those of the pod
// in the network.
func validateNames(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	check := func(name, value string, valid func(string) []string) {
		if value == "" {
			return
		}
		for _, message := range valid(value) {
			errs = append(errs, field.Invalid(at.Child(name), value, message))
		}
	}
	check("serviceAccountName", spec.ServiceAccountName, utilvalidation.IsDNS1123Subdomain)
	check("nodeName", spec.NodeName, utilvalidation.IsDNS1123Subdomain)
	check("hostname", spec.Hostname, utilvalidation.IsDNS1123Label)
	check("subdomain", spec.Subdomain, utilvalidation.IsDNS1123Label)
	check("priorityClassName", spec.PriorityClassName, utilvalidation.IsDNS1123Subdomain)
	return errs
}

// ValidateTolerations looks at what a pod puts up with.
func ValidateTolerations(list []corev1.Toleration, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range list {
		t, at := &list[i], at.Index(i)
		if t.Key != "" {
			errs = append(errs, metavalidation.ValidateLabelName(t.Key, at.Child("key"))...)
		}
		if t.Key == "" && t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(at.Child("operator"), t.Operator,
				"operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
		}
		if t.Effect != "" {
			errs = append(errs, kind.OneOf(at.Child("effect"), t.Effect,
				corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
		}
	}
	return errs
}
