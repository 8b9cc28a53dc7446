package apps

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateDeployment(d *appsv1.Deployment) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		kind.NonNegative(spec.Child("replicas"), d.Spec.Replicas),
		validateReplicaPods(d.Spec.Selector, &d.Spec.Template, spec),
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

func validateDeploymentUpdate(d, old *appsv1.Deployment) field.ErrorList {
	return append(validateDeployment(d), immutableSelector(d.Spec.Selector, old.Spec.Selector)...)
}

func validateReplicaSet(r *appsv1.ReplicaSet) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		kind.NonNegative(spec.Child("replicas"), r.Spec.Replicas),
		kind.NonNegative(spec.Child("minReadySeconds"), &r.Spec.MinReadySeconds),
		validateReplicaPods(r.Spec.Selector, &r.Spec.Template, spec),
	)
}

func validateReplicaSetUpdate(r, old *appsv1.ReplicaSet) field.ErrorList {
	return append(validateReplicaSet(r), immutableSelector(r.Spec.Selector, old.Spec.Selector)...)
}

// validateReplicaPods looks at the pods of a deployment and of a replica set.
func validateReplicaPods(s *metav1.LabelSelector, t *corev1.PodTemplateSpec, spec *field.Path) field.ErrorList {
	at, template := spec.Child("selector"), spec.Child("template")
	selector, errs, ok := podspec.ValidateSelector(s, "deployment", at)
	if !ok {
		return append(errs, field.Invalid(at, s, "invalid label selector"))
	}
	return slices.Concat(errs,
		podspec.ValidateSelected(selector, t, template),
		podspec.ValidateTemplate(t, template),
		podspec.ValidateRunsForever(t, "ReplicaSet", template),
	)
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

// validateRolling wants room for a rolling update, below or above the number
// of replicas.
func validateRolling(r *appsv1.RollingUpdateDeployment, at *field.Path) field.ErrorList {
	unavailable, surge := at.Child("maxUnavailable"), at.Child("maxSurge")
	errs := slices.Concat(kind.IntOrPercent(unavailable, r.MaxUnavailable), kind.IntOrPercent(surge, r.MaxSurge))
	if isZero(r.MaxUnavailable) && isZero(r.MaxSurge) {
		errs = append(errs, field.Invalid(unavailable, r.MaxUnavailable, "may not be 0 when `maxSurge` is 0"))
	}
	return append(errs, kind.AtMost100Percent(unavailable, r.MaxUnavailable)...)
}

// isZero takes what is no number for 0.
func isZero(n *intstr.IntOrString) bool {
	if n == nil {
		return false
	}
	value, err := intstr.GetScaledValueFromIntOrPercent(n, 100, true)
	return err != nil || value == 0
}

func validateDaemonSet(d *appsv1.DaemonSet) field.ErrorList {
	spec := field.NewPath("spec")
	template := spec.Child("template")
	return slices.Concat(
		validateDaemonSelector(&d.Spec, spec),
		podspec.ValidateTemplate(&d.Spec.Template, template),
		podspec.ValidateRunsForever(&d.Spec.Template, "DaemonSet", template),
		kind.NonNegative(spec.Child("minReadySeconds"), &d.Spec.MinReadySeconds),
		validateDaemonStrategy(&d.Spec.UpdateStrategy, spec.Child("updateStrategy")),
		kind.NonNegative(spec.Child("revisionHistoryLimit"), d.Spec.RevisionHistoryLimit),
	)
}

// validateDaemonSelector does not ask for a selector: without one the template
// is not selected.
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

func validateDaemonSetUpdate(d, old *appsv1.DaemonSet) field.ErrorList {
	return append(immutableSelector(d.Spec.Selector, old.Spec.Selector), validateDaemonSet(d)...)
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

// validateRollingDaemons wants either the old pod of a node or the new one to
// go first.
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

func immutableSelector(s, old *metav1.LabelSelector) field.ErrorList {
	return kind.Immutable(field.NewPath("spec", "selector"), s, old)
}
