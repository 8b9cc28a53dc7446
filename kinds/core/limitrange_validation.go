package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateLimitRange(l *corev1.LimitRange) field.ErrorList {
	var errs field.ErrorList
	types := sets.New[corev1.LimitType]()
	for i := range l.Spec.Limits {
		item, at := &l.Spec.Limits[i], field.NewPath("spec", "limits").Index(i)
		errs = append(errs, validateLimitType(item.Type, at.Child("type"))...)
		if types.Has(item.Type) {
			errs = append(errs, field.Duplicate(at.Child("type"), item.Type))
		}
		types.Insert(item.Type)
		errs = append(errs, validateLimitNames(item, at)...)
		for _, name := range limitedResources(item) {
			errs = append(errs, validateLimits(item, name, at)...)
		}
	}
	return errs
}

func validateLimitType(t corev1.LimitType, at *field.Path) field.ErrorList {
	if messages := utilvalidation.IsQualifiedName(string(t)); len(messages) > 0 {
		return kind.Invalid(at, t, messages)
	}
	switch t {
	case corev1.LimitTypePod, corev1.LimitTypeContainer, corev1.LimitTypePersistentVolumeClaim:
		return nil
	}
	if strings.Contains(string(t), "/") {
		return nil
	}
	return field.ErrorList{field.Invalid(at, t, "must be a standard limit type or fully qualified")}
}

// validateLimitNames rejects defaults for pods, and resources other than storage for claims.
func validateLimitNames(item *corev1.LimitRangeItem, at *field.Path) field.ErrorList {
	valid := podspec.ValidateResourceName
	if item.Type == corev1.LimitTypePod || item.Type == corev1.LimitTypeContainer {
		valid = podspec.ValidateContainerResourceName
	}
	var errs field.ErrorList
	check := func(field string, list corev1.ResourceList) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			errs = append(errs, valid(name, at.Child(field).Key(string(name)))...)
		}
	}
	check("max", item.Max)
	check("min", item.Min)
	if item.Type == corev1.LimitTypePod {
		for name, list := range map[string]corev1.ResourceList{"default": item.Default, "defaultRequest": item.DefaultRequest} {
			if len(list) > 0 {
				errs = append(errs, field.Forbidden(at.Child(name), "may not be specified when `type` is 'Pod'"))
			}
		}
	} else {
		check("default", item.Default)
		check("defaultRequest", item.DefaultRequest)
	}
	if item.Type == corev1.LimitTypePersistentVolumeClaim && !has(item.Min, corev1.ResourceStorage) && !has(item.Max, corev1.ResourceStorage) {
		errs = append(errs, field.Required(at.Child("limits"), "either minimum or maximum storage value is required, but neither was provided"))
	}
	check("maxLimitRequestRatio", item.MaxLimitRequestRatio)
	return errs
}

func has(list corev1.ResourceList, name corev1.ResourceName) bool {
	_, ok := list[name]
	return ok
}

func limitedResources(item *corev1.LimitRangeItem) []corev1.ResourceName {
	names := sets.KeySet(item.Max).Union(sets.KeySet(item.Min)).Union(sets.KeySet(item.MaxLimitRequestRatio))
	if item.Type != corev1.LimitTypePod {
		names = names.Union(sets.KeySet(item.Default)).Union(sets.KeySet(item.DefaultRequest))
	}
	return slices.Sorted(maps.Keys(names))
}

// bound is one of the lists of an item, with its name in messages.
type bound struct {
	field, words string
	list         corev1.ResourceList
}

// validateLimits requires the bounds of one resource in increasing order: min, defaultRequest,
// default, max.
func validateLimits(item *corev1.LimitRangeItem, name corev1.ResourceName, at *field.Path) field.ErrorList {
	least, most := bound{"min", "min", item.Min}, bound{"max", "max", item.Max}
	limit, request := bound{"default", "default", item.Default}, bound{"defaultRequest", "default request", item.DefaultRequest}
	if item.Type == corev1.LimitTypePod {
		limit.list, request.list = nil, nil
	}
	ofLimit := limit
	ofLimit.words = "default limit"
	var errs field.ErrorList
	// An error names one field of the pair and shows the value of one.
	for _, pair := range []struct{ low, high, at, shown bound }{
		{least, most, least, least},
		{least, request, request, request},
		{request, most, request, request},
		{request, ofLimit, request, request},
		{least, limit, limit, least},
		{limit, most, limit, most},
	} {
		low, ok := pair.low.list[name]
		high, also := pair.high.list[name]
		if ok && also && low.Cmp(high) > 0 {
			errs = append(errs, field.Invalid(at.Child(pair.at.field).Key(string(name)), pair.shown.list[name],
				fmt.Sprintf("%s value %s is greater than %s value %s", pair.low.words, low.String(), pair.high.words, high.String())))
		}
	}
	errs = append(errs, validateRatio(item, name, at.Child("maxLimitRequestRatio").Key(string(name)))...)
	given, limited := limit.list[name]
	asked, requested := request.list[name]
	if !podspec.Overcommits(name) && limited && requested && given.Cmp(asked) != 0 {
		errs = append(errs, field.Invalid(at.Child("defaultRequest").Key(string(name)), asked,
			fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", given.String(), asked.String(), name)))
	}
	return errs
}

// validateRatio rejects a ratio that is greater than max divided by min.
func validateRatio(item *corev1.LimitRangeItem, name corev1.ResourceName, at *field.Path) field.ErrorList {
	ratio, ok := item.MaxLimitRequestRatio[name]
	if !ok {
		return nil
	}
	var errs field.ErrorList
	if ratio.Cmp(*resource.NewQuantity(1, resource.DecimalSI)) < 0 {
		errs = append(errs, field.Invalid(at, ratio, fmt.Sprintf("ratio %s is less than 1", ratio.String())))
	}
	least, bounded := item.Min[name]
	most, also := item.Max[name]
	if !bounded || !also {
		return errs
	}
	value, low, high := float64(ratio.Value()), least.Value(), most.Value()
	if ratio.Value() < resource.MaxMilliValue && low < resource.MaxMilliValue && high < resource.MaxMilliValue {
		value, low, high = float64(ratio.MilliValue())/1000, least.MilliValue(), most.MilliValue()
	}
	if widest := float64(high) / float64(low); value > widest {
		errs = append(errs, field.Invalid(at, ratio, fmt.Sprintf("ratio %s is greater than max/min = %f", ratio.String(), widest)))
	}
	return errs
}
