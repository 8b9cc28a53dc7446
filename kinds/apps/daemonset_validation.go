package apps

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateDaemonSet(d *appsv1.DaemonSet, features *feature.Set) field.ErrorList {
	spec := field.NewPath("spec")
	template := spec.Child("template")
	return slices.Concat(
		validateDaemonSelector(&d.Spec, spec),
		podspec.ValidateTemplate(&d.Spec.Template, features, template),
		podspec.ValidateRunsForever(&d.Spec.Template, "DaemonSet", template),
		kind.NonNegative(spec.Child("minReadySeconds"), &d.Spec.MinReadySeconds),
		validateDaemonStrategy(&d.Spec.UpdateStrategy, spec.Child("updateStrategy")),
		kind.NonNegative(spec.Child("revisionHistoryLimit"), d.Spec.RevisionHistoryLimit),
	)
}

// validateDaemonSelector does not report a missing selector: such a selector does not match the
// template, which is reported.
func validateDaemonSelector(s *appsv1.DaemonSetSpec, spec *field.Path) field.ErrorList {
	if s.Selector == nil {
		return podspec.ValidateSelected(labels.Nothing(), &s.Template, spec.Child("template"))
	}
	selector, errs, ok := podspec.ValidateSelector(s.Selector, "daemonset", spec.Child("selector"))
	if ok {
		errs = append(errs, podspec.ValidateSelected(selector, &s.Template, spec.Child("template"))...)
	}
	return errs
}

func validateDaemonSetUpdate(d, old *appsv1.DaemonSet, features *feature.Set) field.ErrorList {
	return append(immutableSelector(d.Spec.Selector, old.Spec.Selector), validateDaemonSet(d, features)...)
}

func validateDaemonStrategy(s *appsv1.DaemonSetUpdateStrategy, at *field.Path) field.ErrorList {
	switch s.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case appsv1.RollingUpdateDaemonSetStrategyType:
		if s.RollingUpdate == nil {
			return field.ErrorList{field.Required(at.Child("rollingUpdate"), "")}
		}
		return validateRollingDaemons(s.RollingUpdate, at.Child("rollingUpdate"))
	}
	return field.ErrorList{field.NotSupported(at, kind.GoJSON(s),
		[]appsv1.DaemonSetUpdateStrategyType{appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType})}
}

// validateRollingDaemons requires exactly one of maxSurge and maxUnavailable.
func validateRollingDaemons(r *appsv1.RollingUpdateDaemonSet, at *field.Path) field.ErrorList {
	unavailable, surge := at.Child("maxUnavailable"), at.Child("maxSurge")
	errs := slices.Concat(
		kind.IntOrPercent(unavailable, r.MaxUnavailable),
		kind.IntOrPercent(surge, r.MaxSurge),
		kind.AtMost100Percent(unavailable, r.MaxUnavailable),
		kind.AtMost100Percent(surge, r.MaxSurge),
	)
	switch noneGoes, noneComes := isZero(r.MaxUnavailable), isZero(r.MaxSurge); {
	case !noneGoes && !noneComes:
		errs = append(errs, field.Invalid(surge, r.MaxSurge, "may not be set when maxUnavailable is non-zero"))
	case noneGoes && noneComes:
		errs = append(errs, field.Required(unavailable, "cannot be 0 when maxSurge is 0"))
	}
	return errs
}

func validateDaemonSetStatus(d, old *appsv1.DaemonSet) field.ErrorList {
	at, s := field.NewPath("status"), &d.Status
	return slices.Concat(
		validateCounts(at, s.ObservedGeneration,
			count{"currentNumberScheduled", s.CurrentNumberScheduled},
			count{"numberMisscheduled", s.NumberMisscheduled},
			count{"desiredNumberScheduled", s.DesiredNumberScheduled},
			count{"numberReady", s.NumberReady},
			count{"updatedNumberScheduled", s.UpdatedNumberScheduled},
			count{"numberAvailable", s.NumberAvailable},
			count{"numberUnavailable", s.NumberUnavailable}),
		validateCollisions(at.Child("collisionCount"), s.CollisionCount, old.Status.CollisionCount),
	)
}
