package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateDeployment(d *appsv1.Deployment) field.ErrorList {
	spec := field.NewPath("spec")
	errs := nonNegative(d.Spec.Replicas, spec.Child("replicas"))
	errs = append(errs, validateReplicaPods(d.Spec.Selector, &d.Spec.Template, spec)...)
	errs = append(errs, validateStrategy(&d.Spec.Strategy, spec.Child("strategy"))...)
	errs = append(errs, nonNegative(&d.Spec.MinReadySeconds, spec.Child("minReadySeconds"))...)
	errs = append(errs, nonNegative(d.Spec.RevisionHistoryLimit, spec.Child("revisionHistoryLimit"))...)
	errs = append(errs, nonNegative(d.Spec.ProgressDeadlineSeconds, spec.Child("progressDeadlineSeconds"))...)
	if deadline := d.Spec.ProgressDeadlineSeconds; deadline != nil && *deadline <= d.Spec.MinReadySeconds {
		errs = append(errs, field.Invalid(spec.Child("progressDeadlineSeconds"), *deadline, "must be greater than minReadySeconds"))
	}
	return errs
}

func validateDeploymentUpdate(d, old *appsv1.Deployment) field.ErrorList {
	return append(validateDeployment(d), immutableSelector(d.Spec.Selector, old.Spec.Selector)...)
}

func validateReplicaSet(r *appsv1.ReplicaSet) field.ErrorList {
	spec := field.NewPath("spec")
	errs := nonNegative(r.Spec.Replicas, spec.Child("replicas"))
	errs = append(errs, nonNegative(&r.Spec.MinReadySeconds, spec.Child("minReadySeconds"))...)
	return append(errs, validateReplicaPods(r.Spec.Selector, &r.Spec.Template, spec)...)
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
	errs = append(errs, podspec.ValidateSelected(selector, t, template)...)
	errs = append(errs, podspec.ValidateTemplate(t, template)...)
	return append(errs, podspec.ValidateRunsForever(t, "ReplicaSet", template)...)
}

func validateStrategy(s *appsv1.DeploymentStrategy, at *field.Path) field.ErrorList {
	switch s.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if s.RollingUpdate != nil {
			return field.ErrorList{field.Forbidden(at.Child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'")}
		}
	case appsv1.RollingUpdateDeploymentStrategyType:
		if r := s.RollingUpdate; r != nil && isZero(r.MaxUnavailable) && isZero(r.MaxSurge) {
			return field.ErrorList{field.Invalid(at.Child("rollingUpdate", "maxUnavailable"), r.MaxUnavailable, "may not be 0 when `maxSurge` is 0")}
		}
	default:
		return field.ErrorList{field.NotSupported(at.Child("type"), s.Type,
			[]appsv1.DeploymentStrategyType{appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType})}
	}
	return nil
}

func isZero(n *intstr.IntOrString) bool {
	return n != nil && (n.Type == intstr.Int && n.IntVal == 0 || n.Type == intstr.String && n.StrVal == "0%")
}

func validateDaemonSet(d *appsv1.DaemonSet) field.ErrorList {
	spec := field.NewPath("spec")
	template := spec.Child("template")
	selector, errs, ok := podspec.ValidateSelector(d.Spec.Selector, "daemonset", spec.Child("selector"))
	if ok {
		errs = append(errs, podspec.ValidateSelected(selector, &d.Spec.Template, template)...)
	}
	errs = append(errs, podspec.ValidateTemplate(&d.Spec.Template, template)...)
	errs = append(errs, podspec.ValidateRunsForever(&d.Spec.Template, "DaemonSet", template)...)
	errs = append(errs, nonNegative(&d.Spec.MinReadySeconds, spec.Child("minReadySeconds"))...)
	return append(errs, nonNegative(d.Spec.RevisionHistoryLimit, spec.Child("revisionHistoryLimit"))...)
}

func validateDaemonSetUpdate(d, old *appsv1.DaemonSet) field.ErrorList {
	return append(validateDaemonSet(d), immutableSelector(d.Spec.Selector, old.Spec.Selector)...)
}

// validateStatefulSet leaves the pod spec alone, as kube-apiserver does: the
// volumes that its containers mount may be those of the claim templates.
func validateStatefulSet(s *appsv1.StatefulSet) field.ErrorList {
	spec := field.NewPath("spec")
	template := spec.Child("template")
	errs := nonNegative(s.Spec.Replicas, spec.Child("replicas"))
	errs = append(errs, nonNegative(&s.Spec.MinReadySeconds, spec.Child("minReadySeconds"))...)
	selector, faults, ok := podspec.ValidateSelector(s.Spec.Selector, "statefulset", spec.Child("selector"))
	errs = append(errs, faults...)
	if ok {
		errs = append(errs, podspec.ValidateSelected(selector, &s.Spec.Template, template)...)
		errs = append(errs, podspec.ValidateTemplateMeta(&s.Spec.Template, template)...)
	}
	return append(errs, podspec.ValidateRunsForever(&s.Spec.Template, "StatefulSet", template)...)
}

func immutableSelector(s, old *metav1.LabelSelector) field.ErrorList {
	return validation.ValidateImmutableField(s, old, field.NewPath("spec", "selector"))
}

func nonNegative(n *int32, at *field.Path) field.ErrorList {
	if n == nil {
		return nil
	}
	return validation.ValidateNonnegativeField(int64(*n), at)
}
