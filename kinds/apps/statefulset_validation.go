package apps

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateNewStatefulSet(s *appsv1.StatefulSet) field.ErrorList {
	errs := validateStatefulSet(s)
	if name := s.Spec.ServiceName; name != "" {
		errs = append(errs, kind.Invalid(field.NewPath("spec", "serviceName"), name, utilvalidation.IsDNS1123Label(name))...)
	}
	return errs
}

// validateStatefulSet leaves the pod spec alone, as kube-apiserver does: the
// volumes that its containers mount may be those of the claim templates, which
// are left alone too.
func validateStatefulSet(s *appsv1.StatefulSet) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		validateManagement(s.Spec.PodManagementPolicy, spec.Child("podManagementPolicy")),
		validateStatefulStrategy(&s.Spec.UpdateStrategy, spec.Child("updateStrategy")),
		validateRetention(s.Spec.PersistentVolumeClaimRetentionPolicy, spec.Child("persistentVolumeClaimRetentionPolicy")),
		kind.NonNegative(spec.Child("replicas"), s.Spec.Replicas),
		kind.NonNegative(spec.Child("minReadySeconds"), &s.Spec.MinReadySeconds),
		validateOrdinals(s.Spec.Ordinals, spec.Child("ordinals.start")),
		validateStatefulPods(&s.Spec, spec),
	)
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

func validateStatefulStrategy(s *appsv1.StatefulSetUpdateStrategy, at *field.Path) field.ErrorList {
	rolling := at.Child("rollingUpdate")
	switch s.Type {
	case "":
		return field.ErrorList{field.Required(at, "")}
	case appsv1.OnDeleteStatefulSetStrategyType:
		if s.RollingUpdate != nil {
			return field.ErrorList{field.Invalid(rolling, kind.GoJSON(s.RollingUpdate), "only allowed for updateStrategy 'RollingUpdate'")}
		}
		return nil
	case appsv1.RollingUpdateStatefulSetStrategyType:
		return validateRollingStateful(s.RollingUpdate, rolling)
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

func validateStatefulPods(s *appsv1.StatefulSetSpec, spec *field.Path) field.ErrorList {
	template := spec.Child("template")
	selector, errs, ok := podspec.ValidateSelector(s.Selector, "statefulset", spec.Child("selector"))
	if ok {
		errs = slices.Concat(errs,
			podspec.ValidateSelected(selector, &s.Template, template),
			podspec.ValidateTemplateMeta(&s.Template, template),
		)
	} else {
		errs = append(errs, field.Invalid(spec.Child("selector"), s.Selector, ""))
	}
	return append(errs, podspec.ValidateRunsForever(&s.Template, "StatefulSet", template)...)
}

// validateStatefulSetUpdate compares what is left of the specs without the
// fields that may change.
func validateStatefulSetUpdate(s, old *appsv1.StatefulSet) field.ErrorList {
	rest := *s.Spec.DeepCopy()
	rest.Replicas = old.Spec.Replicas
	rest.Template = old.Spec.Template
	rest.UpdateStrategy = old.Spec.UpdateStrategy
	rest.MinReadySeconds = old.Spec.MinReadySeconds
	rest.Ordinals = old.Spec.Ordinals
	rest.RevisionHistoryLimit = old.Spec.RevisionHistoryLimit
	rest.PersistentVolumeClaimRetentionPolicy = old.Spec.PersistentVolumeClaimRetentionPolicy
	errs := validateStatefulSet(s)
	if equality.Semantic.DeepEqual(rest, old.Spec) {
		return errs
	}
	return append(errs, field.Forbidden(field.NewPath("spec"),
		"updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "+
			"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"))
}
