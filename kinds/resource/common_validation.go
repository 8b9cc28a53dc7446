package resource

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// unlimited is the maximum length of a list without a limit.
const unlimited = -1

// each validates the items of a list, unless there are too many.
func each[T any](list []T, most int, at *field.Path, validate func(item T, at *field.Path) field.ErrorList) field.ErrorList {
	if most != unlimited && len(list) > most {
		return kind.ByTag(field.ErrorList{field.TooMany(at, len(list), most)})
	}
	var errs field.ErrorList
	for i, item := range list {
		errs = append(errs, validate(item, at.Index(i))...)
	}
	return errs
}

// unique rejects items of a list with equal keys.
func unique[T any, K comparable](list []T, at *field.Path, key func(item T) K) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[K]()
	for i, item := range list {
		k := key(item)
		if seen.Has(k) {
			errs = append(errs, field.Duplicate(at.Index(i), k))
		}
		seen.Insert(k)
	}
	return kind.ByTag(errs)
}

// uniqueObjects is unique for a list with a key. The errors have the objects.
func uniqueObjects[T any, K comparable](list []T, at *field.Path, key func(item T) K) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[K]()
	for i, item := range list {
		if seen.Has(key(item)) {
			errs = append(errs, field.Duplicate(at.Index(i), item))
		}
		seen.Insert(key(item))
	}
	return kind.ByTag(errs)
}

func identity(text string) string { return text }

// dnsLabel validates a DNS label. It reports no separate error for an empty name.
func dnsLabel(name string, at *field.Path) field.ErrorList {
	return kind.Invalid(at, name, utilvalidation.IsDNS1123Label(name))
}

func validateLabelNames(list []string, most int, at *field.Path) field.ErrorList {
	return each(list, most, at, func(name string, at *field.Path) field.ErrorList {
		return kind.Invalid(at, name, content.IsLabelKey(name))
	})
}

func validateDriverName(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs field.ErrorList
	if len(name) > resourcev1.DriverNameMaxLength {
		errs = append(errs, field.TooLong(at, "", resourcev1.DriverNameMaxLength))
	}
	return append(errs, kind.Invalid(at, name, utilvalidation.IsDNS1123Subdomain(strings.ToLower(name)))...)
}

// validatePoolName requires DNS subdomains separated by slashes.
func validatePoolName(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs field.ErrorList
	if len(name) > resourcev1.PoolNameMaxLength {
		errs = append(errs, field.TooLong(at, "", resourcev1.PoolNameMaxLength))
	}
	for part := range strings.SplitSeq(name, "/") {
		errs = append(errs, kind.Invalid(at, part, utilvalidation.IsDNS1123Subdomain(part))...)
	}
	return errs
}

// validateQualifiedName requires an identifier with an optional domain.
func validateQualifiedName(name string, at *field.Path) field.ErrorList {
	domain, id, ok := strings.Cut(name, "/")
	switch {
	case !ok:
		return validateIdentifier(name, at)
	case strings.Contains(id, "/"):
		return nil // kube-apiserver does not validate more than two parts
	}
	var errs field.ErrorList
	if domain == "" {
		errs = append(errs, field.Invalid(at, "", "the domain must not be empty"))
	} else {
		errs = append(errs, validateDriverName(domain, at)...)
	}
	if id == "" {
		return append(errs, field.Invalid(at, "", "the name must not be empty"))
	}
	return append(errs, validateIdentifier(id, at)...)
}

// validateFullName requires an identifier with a domain.
func validateFullName(name string, at *field.Path) field.ErrorList {
	return validate.ResourceFullyQualifiedName(context.Background(), operation.Operation{}, at, &name, nil)
}

func validateIdentifier(id string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(id) > resourcev1.DeviceMaxIDLength {
		errs = append(errs, field.TooLong(at, "", resourcev1.DeviceMaxIDLength))
	}
	return append(errs, kind.Invalid(at, id, content.IsCIdentifier(id))...)
}

// validateParameters requires a JSON object.
func validateParameters(raw runtime.RawExtension, most int, at *field.Path) field.ErrorList {
	var value any
	switch n := len(raw.Raw); {
	case n == 0:
		return field.ErrorList{field.Required(at, "")}
	case most != unlimited && n > most:
		return field.ErrorList{field.TooLong(at, "", most)}
	}
	if err := json.Unmarshal(raw.Raw, &value); err != nil {
		return field.ErrorList{field.Invalid(at, "<value omitted>", "error parsing data as JSON: "+err.Error())}
	}
	if value == nil {
		return field.ErrorList{field.Required(at, "")}
	}
	if _, ok := value.(map[string]any); !ok {
		return field.ErrorList{field.Invalid(at, "<value omitted>", "must be a valid JSON object")}
	}
	return nil
}

func validateConfiguration(c resourcev1.DeviceConfiguration, longest int, at *field.Path) field.ErrorList {
	if c.Opaque == nil {
		return field.ErrorList{field.Required(at.Child("opaque"), "")}
	}
	return append(kind.DriverName(at.Child("opaque", "driver"), c.Opaque.Driver),
		validateParameters(c.Opaque.Parameters, longest, at.Child("opaque", "parameters"))...)
}

// validateBinding requires that both lists of conditions are set or both are empty, and that they
// do not overlap.
func validateBinding(ok, failed []string, at *field.Path) field.ErrorList {
	good, bad := at.Child("bindingConditions"), at.Child("bindingFailureConditions")
	errs := slices.Concat(
		validateLabelNames(ok, resourcev1.BindingConditionsMaxSize, good),
		validateLabelNames(failed, resourcev1.BindingFailureConditionsMaxSize, bad),
		unique(ok, good, identity),
	)
	seen := sets.New[string]()
	for i, condition := range failed {
		if seen.Has(condition) {
			errs = append(errs, field.Duplicate(bad.Index(i), condition))
		}
		seen.Insert(condition)
		if slices.Contains(ok, condition) {
			errs = append(errs, field.Invalid(bad.Index(i), condition, "bindingFailureConditions must not overlap with bindingConditions"))
		}
	}
	switch {
	case len(ok) == 0 && len(failed) > 0:
		errs = append(errs, field.Invalid(good, ok, "bindingConditions are required to use bindingFailureConditions"))
	case len(failed) == 0 && len(ok) > 0:
		errs = append(errs, field.Invalid(bad, failed, "bindingFailureConditions are required to use bindingConditions"))
	}
	return errs
}

var taintEffects = []resourcev1.DeviceTaintEffect{
	resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNone,
}

func validateToleration(t resourcev1.DeviceToleration, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if t.Key != "" {
		errs = append(errs, kind.Invalid(at.Child("key"), t.Key, content.IsLabelKey(t.Key))...)
	}
	errs = append(errs, kind.OneOf(at.Child("operator"), t.Operator, resourcev1.DeviceTolerationOpEqual, resourcev1.DeviceTolerationOpExists)...)
	switch {
	case t.Operator == resourcev1.DeviceTolerationOpExists && t.Value != "":
		errs = append(errs, field.Invalid(at.Child("value"), t.Value, "must be empty for operator `Exists`"))
	case t.Operator == resourcev1.DeviceTolerationOpEqual:
		errs = append(errs, kind.Invalid(at.Child("value"), t.Value, content.IsLabelValue(t.Value))...)
	}
	if t.Effect != "" {
		errs = append(errs, kind.Supported(at.Child("effect"), t.Effect, taintEffects...)...)
	}
	return errs
}
