package podspec

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

// ValidateTolerations validates the tolerations of a pod.
func ValidateTolerations(list []corev1.Toleration, features *feature.Set, at *field.Path) field.ErrorList {
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
		errs = append(errs, validateTolerated(t, features, at)...)
		if t.Effect != "" {
			errs = append(errs, validateEffect(t.Effect, at.Child("effect"))...)
		}
	}
	return errs
}

func validateTolerated(t *corev1.Toleration, features *feature.Set, toleration *field.Path) field.ErrorList {
	at := toleration.Child("operator")
	switch t.Operator {
	case corev1.TolerationOpEqual, "":
		if messages := utilvalidation.IsValidLabelValue(t.Value); len(messages) > 0 {
			return field.ErrorList{field.Invalid(at, t.Value, strings.Join(messages, ";"))}
		}
		return nil
	case corev1.TolerationOpExists:
		if t.Value != "" {
			return field.ErrorList{field.Invalid(at, t.Value, "value must be empty when `operator` is 'Exists'")}
		}
		return nil
	case corev1.TolerationOpLt, corev1.TolerationOpGt:
		if features.Enabled(feature.TaintTolerationComparisonOperators) {
			return validateToleratedNumber(t.Value, toleration.Child("value"))
		}
		return field.ErrorList{field.NotSupported(at, t.Operator,
			[]corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt})}
	default:
		return kind.Supported(at, t.Operator, corev1.TolerationOpEqual, corev1.TolerationOpExists)
	}
}

// validateToleratedNumber requires an integer of 64 bits.
func validateToleratedNumber(value string, at *field.Path) field.ErrorList {
	errs := kind.Invalid(at, value, content.IsDecimalInteger(value))
	if _, err := strconv.ParseInt(value, 10, 64); err != nil {
		errs = append(errs, field.Invalid(at, value, err.Error()))
	}
	return errs
}

// ValidateTaints validates the taints of a node. A key and an effect are unique.
func ValidateTaints(list []corev1.Taint, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := sets.New[corev1.Taint]()
	for i, t := range list {
		at := at.Index(i)
		errs = append(errs, metavalidation.ValidateLabelName(t.Key, at.Child("key"))...)
		if messages := utilvalidation.IsValidLabelValue(t.Value); len(messages) > 0 {
			errs = append(errs, field.Invalid(at.Child("value"), t.Value, strings.Join(messages, ";")))
		}
		errs = append(errs, validateEffect(t.Effect, at.Child("effect"))...)
		key := corev1.Taint{Key: t.Key, Effect: t.Effect}
		if taken.Has(key) {
			twice := field.Duplicate(at, kind.GoJSON(t))
			twice.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, twice)
		}
		taken.Insert(key)
	}
	return errs
}

func validateEffect(effect corev1.TaintEffect, at *field.Path) field.ErrorList {
	return kind.OneOf(at, effect, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
}
