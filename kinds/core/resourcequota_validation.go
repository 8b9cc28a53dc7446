package core

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateResourceQuota(q *corev1.ResourceQuota) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateHard(q.Spec.Hard, spec.Child("hard"))
	if len(q.Spec.Scopes) > 0 {
		errs = append(errs, validateScopes(q, spec.Child("scopes"))...)
	}
	if q.Spec.ScopeSelector != nil {
		errs = append(errs, validateScopeSelector(q, spec.Child("scopeSelector", "matchExpressions"))...)
	}
	return errs
}

func validateResourceQuotaUpdate(q, old *corev1.ResourceQuota) field.ErrorList {
	errs := validateResourceQuota(q)
	if !sets.New(q.Spec.Scopes...).Equal(sets.New(old.Spec.Scopes...)) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "scopes"), q.Spec.Scopes, validation.FieldImmutableErrorMsg))
	}
	return errs
}

func validateResourceQuotaStatus(q, _ *corev1.ResourceQuota) field.ErrorList {
	errs := validateHard(q.Status.Hard, field.NewPath("status", "hard"))
	return append(errs, validateHard(q.Status.Used, field.NewPath("status", "used"))...)
}

func validateHard(list corev1.ResourceList, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		at := at.Key(string(name))
		errs = append(errs, podspec.ValidateResourceName(name, at)...)
		if !strings.Contains(string(name), "/") && !podspec.IsOfQuotas(name) {
			errs = append(errs, field.Invalid(at, name, "must be a standard resource for quota"))
		}
		errs = append(errs, podspec.ValidateAmount(name, list[name], at)...)
	}
	return errs
}

func validateScopes(q *corev1.ResourceQuota, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, scope := range q.Spec.Scopes {
		counted, ok := scopes[scope]
		if !ok {
			errs = append(errs, field.Invalid(at, q.Spec.Scopes, "unsupported scope"))
		}
		for range uncounted(q, counted) {
			errs = append(errs, field.Invalid(at, q.Spec.Scopes, "unsupported scope applied to resource"))
		}
	}
	return append(errs, validatePairs(q, sets.New(q.Spec.Scopes...), at)...)
}

func validateScopeSelector(q *corev1.ResourceQuota, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	named := sets.New[corev1.ResourceQuotaScope]()
	for i := range q.Spec.ScopeSelector.MatchExpressions {
		r := &q.Spec.ScopeSelector.MatchExpressions[i]
		counted, ok := scopes[r.ScopeName]
		if !ok {
			errs = append(errs, field.Invalid(at.Child("scopeName"), r.ScopeName, "unsupported scope"))
		}
		for range uncounted(q, counted) {
			errs = append(errs, field.Invalid(at, kind.GoJSON(q.Spec.ScopeSelector), "unsupported scope applied to resource"))
		}
		errs = append(errs, validateScopeRequirement(r, at)...)
		named.Insert(r.ScopeName)
	}
	return append(errs, validatePairs(q, named, at)...)
}

// scopes maps each scope to the resources that a quota can count in it.
var scopes = map[corev1.ResourceQuotaScope][]corev1.ResourceName{
	corev1.ResourceQuotaScopeTerminating:               podsAndCompute,
	corev1.ResourceQuotaScopeNotTerminating:            podsAndCompute,
	corev1.ResourceQuotaScopeNotBestEffort:             podsAndCompute,
	corev1.ResourceQuotaScopePriorityClass:             podsAndCompute,
	corev1.ResourceQuotaScopeCrossNamespacePodAffinity: podsAndCompute,
	corev1.ResourceQuotaScopeBestEffort:                {corev1.ResourcePods},
	corev1.ResourceQuotaScopeVolumeAttributesClass:     {corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage},
}

var podsAndCompute = []corev1.ResourceName{
	corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
}

// uncounted returns the native resources of a quota that cannot be counted in a scope. nil: all
// can.
func uncounted(q *corev1.ResourceQuota, counted []corev1.ResourceName) []corev1.ResourceName {
	var names []corev1.ResourceName
	for name := range q.Spec.Hard {
		if counted != nil && podspec.IsOfQuotas(name) && !slices.Contains(counted, name) {
			names = append(names, name)
		}
	}
	return names
}

// validatePairs rejects pairs of scopes that exclude each other.
func validatePairs(q *corev1.ResourceQuota, named sets.Set[corev1.ResourceQuotaScope], at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, pair := range [][2]corev1.ResourceQuotaScope{
		{corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort},
		{corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating},
	} {
		if named.HasAll(pair[:]...) {
			errs = append(errs, field.Invalid(at, q.Spec.Scopes, "conflicting scopes"))
		}
	}
	return errs
}

func validateScopeRequirement(r *corev1.ScopedResourceSelectorRequirement, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	valued := r.ScopeName == corev1.ResourceQuotaScopePriorityClass || r.ScopeName == corev1.ResourceQuotaScopeVolumeAttributesClass
	if _, ok := scopes[r.ScopeName]; ok && !valued && r.Operator != corev1.ScopeSelectorOpExists {
		errs = append(errs, field.Invalid(at.Child("operator"), r.Operator,
			"must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"))
	}
	switch r.Operator {
	case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
		if len(r.Values) == 0 {
			errs = append(errs, field.Required(at.Child("values"), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"))
		}
	case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			errs = append(errs, field.Invalid(at.Child("values"), r.Values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"))
		}
	default:
		errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	return errs
}
