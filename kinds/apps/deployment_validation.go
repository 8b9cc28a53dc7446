package apps

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

func validateDeployment(d *appsv1.Deployment, features *feature.Set) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		kind.NonNegative(spec.Child("replicas"), d.Spec.Replicas),
		validateReplicaPods(d.Spec.Selector, &d.Spec.Template, features, spec),
		validateStrategy(&d.Spec.Strategy, spec.Child("strategy")),
		kind.NonNegative(spec.Child("minReadySeconds"), &d.Spec.MinReadySeconds),
		kind.NonNegative(spec.Child("revisionHistoryLimit"), d.Spec.RevisionHistoryLimit),
		validateDeadline(&d.Spec, spec.Child("progressDeadlineSeconds")),
	)
}

func validateDeadline(spec *appsv1.DeploymentSpec, at *field.Path) field.ErrorList {
	deadline := spec.ProgressDeadlineSeconds
	errs := kind.NonNegative(at, deadline)
	if deadline != nil && *deadline <= spec.MinReadySeconds {
		errs = append(errs, field.Invalid(at, *deadline, "must be greater than minReadySeconds"))
	}
	return errs
}

func validateDeploymentUpdate(d, old *appsv1.Deployment, features *feature.Set) field.ErrorList {
	return append(validateDeployment(d, features), immutableSelector(d.Spec.Selector, old.Spec.Selector)...)
}

func validateStrategy(s *appsv1.DeploymentStrategy, at *field.Path) field.ErrorList {
	switch s.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if s.RollingUpdate != nil {
			return field.ErrorList{field.Forbidden(at.Child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'")}
		}
	case appsv1.RollingUpdateDeploymentStrategyType:
		if s.RollingUpdate != nil {
			return validateRolling(s.RollingUpdate, at.Child("rollingUpdate"))
		}
	default:
		shown := s.DeepCopy()
		if rolling := shown.RollingUpdate; rolling != nil {
			kind.SetDefaultPointer(&rolling.MaxUnavailable, intstr.FromInt32(0))
			kind.SetDefaultPointer(&rolling.MaxSurge, intstr.FromInt32(0))
		}
		return field.ErrorList{field.NotSupported(at, kind.GoJSON(shown),
			[]appsv1.DeploymentStrategyType{appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType})}
	}
	return nil
}

// validateRolling requires maxSurge or maxUnavailable to be greater than 0.
func validateRolling(r *appsv1.RollingUpdateDeployment, at *field.Path) field.ErrorList {
	unavailable, surge := at.Child("maxUnavailable"), at.Child("maxSurge")
	errs := slices.Concat(kind.IntOrPercent(unavailable, r.MaxUnavailable), kind.IntOrPercent(surge, r.MaxSurge))
	if isZero(r.MaxUnavailable) && isZero(r.MaxSurge) {
		errs = append(errs, field.Invalid(unavailable, r.MaxUnavailable, "may not be 0 when `maxSurge` is 0"))
	}
	return append(errs, kind.AtMost100Percent(unavailable, r.MaxUnavailable)...)
}

func validateDeploymentStatus(d, old *appsv1.Deployment) field.ErrorList {
	at, s := field.NewPath("status"), &d.Status
	updated, ready := count{"updatedReplicas", s.UpdatedReplicas}, count{"readyReplicas", s.ReadyReplicas}
	available := count{"availableReplicas", s.AvailableReplicas}
	return slices.Concat(
		validateCounts(at, s.ObservedGeneration, count{"replicas", s.Replicas}, updated, ready, available,
			count{"unavailableReplicas", s.UnavailableReplicas}),
		kind.NonNegative(at.Child("terminatingReplicas"), s.TerminatingReplicas),
		validateParts(at, s.Replicas, updated, ready, available),
		validateAvailable(at, s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than readyReplicas"),
		validateCollisions(at.Child("collisionCount"), s.CollisionCount, old.Status.CollisionCount),
	)
}
