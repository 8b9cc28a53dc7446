package apps

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// skipped selects the parts of a spec that are not validated, and whether the strategy Recreate is
// valid while its gate is disabled.
type skipped struct{ claims, service, pods, recreate bool }

func validateNewStatefulSet(s *appsv1.StatefulSet, features *feature.Set) field.ErrorList {
	return validateStatefulSet(s, skipped{}, features)
}

func validateStatefulSet(s *appsv1.StatefulSet, pass skipped, features *feature.Set) field.ErrorList {
	spec := field.NewPath("spec")
	errs := slices.Concat(
		validateManagement(s.Spec.PodManagementPolicy, spec.Child("podManagementPolicy")),
		validateStatefulStrategy(&s.Spec.UpdateStrategy, pass.recreate || features.Enabled(feature.StatefulSetRecreateStrategy), spec.Child("updateStrategy")),
		validateRetention(s.Spec.PersistentVolumeClaimRetentionPolicy, spec.Child("persistentVolumeClaimRetentionPolicy")),
	)
	if !pass.claims {
		for i := range s.Spec.VolumeClaimTemplates {
			at := spec.Child("volumeClaimTemplates").Index(i).Child("spec")
			errs = append(errs, podspec.ValidateClaimSpec(&s.Spec.VolumeClaimTemplates[i].Spec, at)...)
		}
	}
	errs = slices.Concat(errs,
		kind.NonNegative(spec.Child("replicas"), s.Spec.Replicas),
		kind.NonNegative(spec.Child("minReadySeconds"), &s.Spec.MinReadySeconds),
		validateOrdinals(s.Spec.Ordinals, spec.Child("ordinals.start")),
	)
	if name := s.Spec.ServiceName; name != "" && !pass.service {
		errs = append(errs, kind.Invalid(spec.Child("serviceName"), name, utilvalidation.IsDNS1123Label(name))...)
	}
	return append(errs, validateStatefulPods(&s.Spec, pass, features, spec)...)
}

func validateManagement(policy appsv1.PodManagementPolicyType, at *field.Path) field.ErrorList {
	switch policy {
	case appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement:
		return nil
	case "":
		return field.ErrorList{field.Required(at, "")}
	}
	return field.ErrorList{field.Invalid(at, policy, "must be 'OrderedReady' or 'Parallel'")}
}

func validateStatefulStrategy(s *appsv1.StatefulSetUpdateStrategy, recreate bool, at *field.Path) field.ErrorList {
	rolling := at.Child("rollingUpdate")
	switch {
	case s.Type == "":
		return field.ErrorList{field.Required(at, "")}
	case s.Type == appsv1.OnDeleteStatefulSetStrategyType, s.Type == appsv1.RecreateStatefulSetStrategyType && recreate:
		if s.RollingUpdate != nil {
			shown := *s.RollingUpdate
			kind.SetDefaultPointer(&shown.Partition, 0)
			return field.ErrorList{field.Invalid(rolling, kind.GoJSON(shown), "only allowed for updateStrategy 'RollingUpdate'")}
		}
		return nil
	case s.Type == appsv1.RollingUpdateStatefulSetStrategyType:
		return validateRollingStateful(s.RollingUpdate, rolling)
	case recreate:
		return field.ErrorList{field.Invalid(at, kind.GoJSON(s), "must be 'RollingUpdate', 'OnDelete', or 'Recreate'")}
	}
	return field.ErrorList{field.Invalid(at, kind.GoJSON(s), "must be 'RollingUpdate' or 'OnDelete'")}
}

func validateRollingStateful(r *appsv1.RollingUpdateStatefulSetStrategy, at *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	unavailable := at.Child("maxUnavailable")
	errs := slices.Concat(
		kind.NonNegative(at.Child("partition"), r.Partition),
		kind.IntOrPercent(unavailable, r.MaxUnavailable),
	)
	if isZero(r.MaxUnavailable) {
		errs = append(errs, field.Invalid(unavailable, r.MaxUnavailable, "cannot be 0"))
	}
	return append(errs, kind.AtMost100Percent(unavailable, r.MaxUnavailable)...)
}

func validateRetention(p *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	keep, drop := appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	return slices.Concat(
		kind.Supported(at.Child("whenDeleted"), p.WhenDeleted, keep, drop),
		kind.Supported(at.Child("whenScaled"), p.WhenScaled, keep, drop),
	)
}

func validateOrdinals(o *appsv1.StatefulSetOrdinals, at *field.Path) field.ErrorList {
	if o == nil {
		return nil
	}
	return kind.NonNegative(at, &o.Start)
}

func validateStatefulPods(s *appsv1.StatefulSetSpec, pass skipped, features *feature.Set, spec *field.Path) field.ErrorList {
	template := spec.Child("template")
	selector, errs, ok := podspec.ValidateSelector(s.Selector, "statefulset", spec.Child("selector"))
	if ok {
		pods := podsOf(s)
		errs = append(errs, podspec.ValidateSelected(selector, pods, template)...)
		if !pass.pods {
			errs = append(errs, podspec.ValidateTemplate(pods, features, template)...)
		}
		errs = append(errs, podspec.ValidateTemplateMeta(pods, template)...)
	} else {
		errs = append(errs, field.Invalid(spec.Child("selector"), s.Selector, ""))
	}
	return append(errs, podspec.ValidateRunsForever(&s.Template, "StatefulSet", template)...)
}

// podsOf returns the template of the pods that the controller creates: with the names of pods, and
// with the volumes of the claim templates.
func podsOf(s *appsv1.StatefulSetSpec) *corev1.PodTemplateSpec {
	pods := s.Template
	pods.Spec.Hostname, pods.Spec.Subdomain = "", ""
	if len(s.VolumeClaimTemplates) == 0 {
		return &pods
	}
	claimed := sets.New[string]()
	pods.Spec.Volumes = nil
	for i := range s.VolumeClaimTemplates {
		name := s.VolumeClaimTemplates[i].Name
		if claimed.Has(name) {
			continue
		}
		claimed.Insert(name)
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
		pods.Spec.Volumes = append(pods.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
	}
	for _, v := range s.Template.Spec.Volumes {
		if !claimed.Has(v.Name) {
			pods.Spec.Volumes = append(pods.Spec.Volumes, v)
		}
	}
	return &pods
}

// statefulSetUpdateValidation returns the validation of updates. Immutable fields are not validated
// again, nor is the template if the rest of the spec has errors: older releases accepted any
// template.
func statefulSetUpdateValidation(features *feature.Set) func(s, old *appsv1.StatefulSet) field.ErrorList {
	validateImmutable := validateImmutableSpec
	if features.Enabled(feature.ImmutableStatefulSetFields) {
		validateImmutable = validateImmutableFields
	}
	return func(s, old *appsv1.StatefulSet) field.ErrorList {
		pass := skipped{claims: true, service: true}
		pass.recreate = old.Spec.UpdateStrategy.Type == appsv1.RecreateStatefulSetStrategyType
		pass.pods = len(validateStatefulSet(old, pass, features)) > 0
		return append(validateStatefulSet(s, pass, features), validateImmutable(&s.Spec, &old.Spec)...)
	}
}

func validateImmutableFields(s, old *appsv1.StatefulSetSpec) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		kind.Immutable(spec.Child("selector"), s.Selector, old.Selector),
		kind.Immutable(spec.Child("volumeClaimTemplates"), s.VolumeClaimTemplates, old.VolumeClaimTemplates),
		kind.Immutable(spec.Child("serviceName"), s.ServiceName, old.ServiceName),
		kind.Immutable(spec.Child("podManagementPolicy"), s.PodManagementPolicy, old.PodManagementPolicy),
	)
}

// validateImmutableSpec returns one error for all immutable fields.
func validateImmutableSpec(s, old *appsv1.StatefulSetSpec) field.ErrorList {
	if len(validateImmutableFields(s, old)) == 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"),
		"updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "+
			"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden")}
}

func validateStatefulSetStatus(s, old *appsv1.StatefulSet) field.ErrorList {
	at, status := field.NewPath("status"), &s.Status
	ready, current := count{"readyReplicas", status.ReadyReplicas}, count{"currentReplicas", status.CurrentReplicas}
	updated, available := count{"updatedReplicas", status.UpdatedReplicas}, count{"availableReplicas", status.AvailableReplicas}
	return slices.Concat(
		validateCounts(at, status.ObservedGeneration, count{"replicas", status.Replicas}, ready, current, updated, available),
		validateParts(at, status.Replicas, ready, current, updated, available),
		validateAvailable(at, status.AvailableReplicas, status.ReadyReplicas, "cannot be greater than status.readyReplicas"),
		validateCollisions(at.Child("collisionCount"), status.CollisionCount, old.Status.CollisionCount),
	)
}
