package autoscaling

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateAutoscaler(a *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if n := a.Spec.MinReplicas; n != nil && *n < 1 {
		errs = append(errs, field.Invalid(spec.Child("minReplicas"), *n, "must be greater than or equal to 1"))
	}
	if a.Spec.MaxReplicas < 1 {
		errs = append(errs, field.Invalid(spec.Child("maxReplicas"), a.Spec.MaxReplicas, "must be greater than 0"))
	}
	if n := a.Spec.MinReplicas; n != nil && a.Spec.MaxReplicas < *n {
		errs = append(errs, field.Invalid(spec.Child("maxReplicas"), a.Spec.MaxReplicas, "must be greater than or equal to `minReplicas`"))
	}
	target := spec.Child("scaleTargetRef")
	errs = append(errs, kind.Needed(target.Child("kind"), a.Spec.ScaleTargetRef.Kind)...)
	return append(errs, kind.Needed(target.Child("name"), a.Spec.ScaleTargetRef.Name)...)
}
